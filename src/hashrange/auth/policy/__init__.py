"""IAM policies: JSON documents that say who may do what to which resource, and when.

A document is parsed once and remembered by its text; what comes out is asked about one request at a time. Nothing here
knows a database: a request is an action, a resource and the values of some condition keys.

    wildcard -> template                  texts with `*`, `?` and `${variables}`
    operators -> condition                comparisons, and what several or missing values mean for them
    principal, statement -> document      the parts of a policy and their rules
    context, decision                     a question, and how several policies answer it together
"""
