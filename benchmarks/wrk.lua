-- Sends the requests of a file. KEY in a request becomes a key number, counted up or drawn at random;
-- SEQUENCE becomes a number that never repeats. Prints what wrk measured as JSON.
local KEY, SEQUENCE = "#########K", "#########S"
local requests, draw, sequence, position = {}, nil, 0, 0

local function split(text)
  local parts, slots, from = {}, {}, 1
  while true do
    local at = text:find("#########[KS]", from)
    if not at then break end
    parts[#parts + 1] = text:sub(from, at - 1)
    parts[#parts + 1] = false
    slots[#slots + 1] = { index = #parts, is_key = text:sub(at, at + 9) == KEY }
    from = at + 10
  end
  parts[#parts + 1] = text:sub(from)
  return { parts = parts, slots = slots }
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for text in file:read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = split(text) end
  file:close()
  local mode, first, count = args[2], tonumber(args[3]), tonumber(args[4])
  math.randomseed(first)
  local next_key = first
  draw = mode == "random" and function() return math.random(0, count - 1) end
    or function() next_key = next_key + 1; return next_key - 1 end
end

function request()
  position = position % #requests + 1
  sequence = sequence + 1
  local chosen = requests[position]
  local key, unique = string.format("%010d", draw()), string.format("%010d", sequence)
  for _, slot in ipairs(chosen.slots) do chosen.parts[slot.index] = slot.is_key and key or unique end
  return table.concat(chosen.parts)
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests": %d, "seconds": %f, "bytes": %d, "bad_status": %d, "broken": %d, ' ..
      '"p50_micros": %d, "p99_micros": %d, "max_micros": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
