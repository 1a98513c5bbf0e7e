-- Sends the requests of a file one after the other, and from the start again if there are no more. Prints what wrk
-- measured as JSON.
local requests, position, looked_at = {}, 0, false

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for text in file:read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = text end
  file:close()
end

function request()
  if not looked_at then  -- wrk asks for one request that it only looks at
    looked_at = true
    return requests[1]
  end
  position = position % #requests + 1
  return requests[position]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests": %d, "seconds": %f, "bytes": %d, "bad_status": %d, "broken": %d, ' ..
      '"p50_micros": %d, "p99_micros": %d, "p999_micros": %d, "max_micros": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
end
