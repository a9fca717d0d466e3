-- A Wireshark dissector of Apache Dubbo's own protocol ("dubbo://"), written by "dubbo-wire lua". It shows the header of each
-- frame, the envelope of its body, and which response answers which request. It does not read arguments, results and
-- attachments: "dubbo-wire explain FILE --packet N" does.
--
-- It needs Wireshark 3 or 4, and works with Lua 5.1 to 5.4.

--@tables@

local dubbo = Proto("dubbo", "Apache Dubbo")

dubbo.prefs.max_body = Pref.uint("Largest body to reassemble", default_max_body,
  "Frames with a longer body are shown without being reassembled, in bytes")

local kinds = { [0] = "exception", "value", "null", "exception, attachments", "value, attachments", "null, attachments" }
local id_names = {}
for id, names in pairs(serializations) do id_names[id] = table.concat(names, " or ") end

local f = {
  magic = ProtoField.uint16("dubbo.magic", "Magic", base.HEX),
  flags = ProtoField.uint8("dubbo.flags", "Flags", base.HEX),
  request = ProtoField.bool("dubbo.request", "Request", 8, nil, 0x80),
  two_way = ProtoField.bool("dubbo.two_way", "Two-way", 8, nil, 0x40),
  event = ProtoField.bool("dubbo.event", "Event", 8, nil, 0x20),
  serialization_id = ProtoField.uint8("dubbo.serialization_id", "Serialization id", base.DEC, id_names, 0x1f),
  status = ProtoField.uint8("dubbo.status", "Status", base.DEC, statuses),
  id = ProtoField.int64("dubbo.id", "Request id"),
  body_bytes = ProtoField.uint32("dubbo.body_bytes", "Body length"),
  kind = ProtoField.string("dubbo.kind", "Kind"),
  serialization = ProtoField.string("dubbo.serialization", "Serialization"),
  dubbo_version = ProtoField.string("dubbo.dubbo_version", "Dubbo version"),
  service = ProtoField.string("dubbo.service", "Service"),
  service_version = ProtoField.string("dubbo.service_version", "Service version"),
  method = ProtoField.string("dubbo.method", "Method"),
  parameter_types = ProtoField.string("dubbo.parameter_types", "Parameter types"),
  result_kind = ProtoField.uint8("dubbo.result_kind", "Result", base.DEC, kinds),
  error_message = ProtoField.string("dubbo.error_message", "Error message"),
  values = ProtoField.bytes("dubbo.values", "Not decoded here"),
  response_in = ProtoField.framenum("dubbo.response_in", "Response in", base.NONE, frametype.RESPONSE),
  request_in = ProtoField.framenum("dubbo.request_in", "Request in", base.NONE, frametype.REQUEST),
  time = ProtoField.relative_time("dubbo.time", "Time since request"),
  stray = ProtoField.bytes("dubbo.stray", "Bytes outside of frames"),
  continuation = ProtoField.bytes("dubbo.continuation", "Continuation of a frame"),
  telnet = ProtoField.string("dubbo.telnet", "Telnet"),
}
dubbo.fields = f

local x = {
  error_status = ProtoExpert.new("dubbo.error_status", "The status is not OK", expert.group.RESPONSE_CODE, expert.severity.WARN),
  exception = ProtoExpert.new("dubbo.exception", "The result is an exception", expert.group.RESPONSE_CODE, expert.severity.NOTE),
  header = ProtoExpert.new("dubbo.header_invalid", "Dubbo does not write such a header", expert.group.MALFORMED, expert.severity.WARN),
  incomplete = ProtoExpert.new("dubbo.incomplete", "The body is not complete here", expert.group.REASSEMBLE, expert.severity.WARN),
  undecoded = ProtoExpert.new("dubbo.undecoded", "Envelope not decoded here: use dubbo-wire explain", expert.group.UNDECODED, expert.severity.NOTE),
  types = ProtoExpert.new("dubbo.types_undecoded", "Parameter types not decoded here: use dubbo-wire explain", expert.group.UNDECODED, expert.severity.NOTE),
}
dubbo.experts = x

local tcp_stream, tcp_nxtseq = Field.new("tcp.stream"), Field.new("tcp.nxtseq")

-- Texts -----------------------------------------------------------------------------------------------------------------------

-- A cursor reads the string c.s from position c.at on. Functions that read raise an error that read() catches.

local max_envelope = 65536 -- bytes of a body that are read

local function fail() error("malformed", 0) end

local function take(c, n)
  local s = c.s:sub(c.at, c.at + n - 1)
  if n < 0 or #s < n then fail() end
  c.at = c.at + n
  return s
end

local function byte(c) return take(c, 1):byte() end

-- number reads n bytes, big-endian.
local function number(c, n)
  local v = 0
  for i = 1, n do v = v * 256 + byte(c) end
  return v
end

local function number_le(c, n)
  local v = 0
  for i = 0, n - 1 do v = v + byte(c) * 256 ^ i end
  return v
end

-- varint reads seven bits of each byte, low ones first; bytes below last end it.
local function varint(c)
  local v = 0
  for i = 0, 4 do
    local b = byte(c)
    v = v + b % 128 * 128 ^ i
    if b < 128 then return v end
  end
  fail()
end

local function char(u)
  if u < 0x80 then return string.char(u) end
  local tail = ""
  local lead = u < 0x800 and 0xc0 or u < 0x10000 and 0xe0 or 0xf0
  for _ = 1, lead == 0xc0 and 1 or lead == 0xe0 and 2 or 3 do
    tail = string.char(0x80 + u % 64) .. tail
    u = math.floor(u / 64)
  end
  return string.char(lead + u) .. tail
end

-- utf8 joins UTF-16 units.
local function utf8(units)
  local out, i = {}, 1
  while i <= #units do
    local u, low = units[i], units[i + 1]
    if u >= 0xd800 and u < 0xdc00 and low and low >= 0xdc00 and low < 0xe000 then
      u, i = 0x10000 + (u - 0xd800) * 1024 + low - 0xdc00, i + 1
    elseif u >= 0xd800 and u < 0xe000 then
      u = 0xfffd
    end
    out[#out + 1] = char(u)
    i = i + 1
  end
  return table.concat(out)
end

-- java_text returns UTF-8 for bytes of UTF-8 or of Java's form of it, in which each UTF-16 unit has a sequence of its own.
local function java_text(s)
  if not s:find("[\128-\255]") then return s end
  local units, at = {}, 1
  while at <= #s do
    local b = s:byte(at)
    local n = b < 0x80 and 0 or b >= 0xc2 and b < 0xe0 and 1 or b >= 0xe0 and b < 0xf0 and 2 or b >= 0xf0 and b < 0xf5 and 3
    local u = n and (n == 0 and b or b % 2 ^ (6 - n)) or 0xfffd
    for i = 1, n or 0 do
      local more = s:byte(at + i) or 0
      if more < 0x80 or more >= 0xc0 then u, n = 0xfffd, nil break end
      u = u * 64 + more % 64
    end
    at = at + 1 + (n or 0)
    if u >= 0x110000 then u = 0xfffd end
    if u >= 0x10000 then
      u = u - 0x10000
      units[#units + 1] = 0xd800 + math.floor(u / 1024)
      u = 0xdc00 + u % 1024
    end
    units[#units + 1] = math.floor(u)
  end
  return utf8(units)
end

-- latin1 and utf16 decode a string of bytes.
local function latin1(s) return utf8({ s:byte(1, math.min(#s, 4096)) }) end

local function utf16(s, big)
  local units = {}
  for i = 1, math.min(#s, 8192) - 1, 2 do
    local a, b = s:byte(i, i + 1)
    units[#units + 1] = big and a * 256 + b or b * 256 + a
  end
  return utf8(units)
end

-- units reads n UTF-16 units of 1 to 3 bytes each; 4 bytes are two units.
local function units(c, n)
  local plain = c.s:sub(c.at, c.at + n - 1)
  if #plain == n and not plain:find("[\128-\255]") then
    c.at = c.at + n
    return plain
  end
  local from = c.at
  while n > 0 do
    local b = byte(c)
    local more = b < 0x80 and 0 or b >= 0xc0 and b < 0xe0 and 1 or b >= 0xe0 and b < 0xf0 and 2 or b >= 0xf0 and b < 0xf8 and 3 or fail()
    take(c, more)
    n = n - (more == 3 and 2 or 1)
  end
  return java_text(c.s:sub(from, c.at - 1))
end

-- Serializations --------------------------------------------------------------------------------------------------------------

-- A form is how a serialization writes a text (nil for null) and the kind of a result, 0 to 5. Some serializations have several
-- forms.

local function kind_byte(c) return byte(c) end

local hessian = {
  text = function(c)
    local all = ""
    while true do
      local b = byte(c)
      if b == 0x4e and all == "" then return nil end
      if b < 0x20 then return all .. units(c, b) end
      if b >= 0x30 and b < 0x34 then return all .. units(c, (b - 0x30) * 256 + byte(c)) end
      if b == 0x53 then return all .. units(c, number(c, 2)) end
      if b ~= 0x52 then fail() end
      all = all .. units(c, number(c, 2))
    end
  end,
  kind = function(c) return byte(c) - 0x90 end,
}

local dubbo_form = {
  text = function(c)
    local tag = byte(c)
    if tag == 0x94 then return nil end
    if tag == 0x95 then return "" end
    if tag ~= 0x83 then fail() end
    local n, unit = 0, 1
    for _ = 1, 5 do
      local b = byte(c)
      n, unit = n + b % 128 * unit, unit * 128
      if b >= 128 then return units(c, n) end
    end
    fail()
  end,
  kind = function(c) return byte(c) - 0x19 end,
}

-- block reads n bytes of a Java object stream, which cuts its data into blocks.
local function block(c, n)
  if c.at == 1 and take(c, 4) ~= "\172\237\0\5" then fail() end
  local out = ""
  while #out < n do
    if (c.block or 0) == 0 then
      local tag = byte(c)
      c.block = tag == 0x77 and byte(c) or tag == 0x7a and number(c, 4) or fail()
    else
      local k = math.min(c.block, n - #out)
      out, c.block = out .. take(c, k), c.block - k
    end
  end
  return out
end

local function block_number(c, n) return number({ s = block(c, n), at = 1 }, n) end

local java = {
  text = function(c)
    if block_number(c, 4) == 0xffffffff then return nil end -- else the number of characters
    return java_text(block(c, block_number(c, 2)))
  end,
  kind = function(c) return block_number(c, 1) end,
}

local native_java = { text = function(c) return java_text(block(c, block_number(c, 2))) end, kind = java.kind }

local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", v = "\v" }

-- unquote returns the text of a JSON string.
local function unquote(json)
  if json == "null" then return nil end
  local s = json:match('^"(.*)"$') or fail()
  if not s:find("\\", 1, true) then return java_text(s) end
  local out, at = {}, 1
  while at <= #s do
    local from, to = s:find("[^\\]+", at)
    if from == at then
      out[#out + 1], at = java_text(s:sub(from, to)), to + 1
    else
      local run = {}
      while s:sub(at, at + 1) == "\\u" do
        run[#run + 1], at = tonumber(s:sub(at + 2, at + 5), 16) or fail(), at + 6
      end
      if #run > 0 then
        out[#out + 1] = utf8(run)
      else
        local c = s:sub(at + 1, at + 1)
        out[#out + 1], at = escapes[c] or c, at + 2
      end
    end
  end
  return table.concat(out)
end

local function line(c)
  local stop = c.s:find("\n", c.at, true) or fail()
  return (take(c, stop - c.at + 1):gsub("\r?\n$", ""))
end

local function digit(json) return tonumber(json:match("^(%d)B?$")) or fail() end

local json_lines = { text = function(c) return unquote(line(c)) end, kind = function(c) return digit(line(c)) end }

local json_prefixed = {
  text = function(c) return unquote(take(c, number(c, 4))) end,
  kind = function(c) return digit(take(c, number(c, 4))) end,
}

local kryo = {
  text = function(c)
    local b = byte(c)
    if b < 0x80 then -- ASCII, whose last byte has bit 7
      local stop = c.s:find("[\128-\255]", c.at) or fail()
      local s = c.s:sub(c.at - 1, stop - 1) .. string.char(c.s:byte(stop) - 128)
      c.at = stop + 1
      return s
    end
    local n = b % 64
    if b % 128 >= 64 then n = n + 64 * varint(c) end
    if n == 0 then return nil end
    return units(c, n - 1)
  end,
  kind = kind_byte,
}

local fst = {
  text = function(c)
    local n = byte(c)
    if n == 0x80 then n = number_le(c, 2) elseif n == 0x81 then n = number_le(c, 4) elseif n > 0x81 then fail() end
    local plain = c.s:sub(c.at, c.at + n - 1)
    if #plain == n and not plain:find("[\128-\255]") then return take(c, n) end
    local all = {}
    for i = 1, n do
      local b = byte(c)
      all[i] = b == 0xff and number_le(c, 2) or b
    end
    return utf8(all)
  end,
  kind = kind_byte,
}

local fst1 = { text = function(c) return java_text(take(c, number(c, 2))) end, kind = kind_byte }

local avro = {
  text = function(c)
    local n = varint(c)
    if n % 2 ~= 0 then fail() end
    return java_text(take(c, n / 2))
  end,
  kind = kind_byte,
}

local protostuff = { text = function(c) return java_text(take(c, number(c, 4))) end, kind = kind_byte }

-- smartbuf reads a packet with a text, null or a small number.
local function smartbuf(c)
  local head = byte(c)
  if head < 0x10 or head > 0x1f then fail() end
  if head % 2 == 1 then byte(c) end -- the number of the packet
  if head % 4 >= 2 then fail() end -- has classes
  local text, num
  if head % 8 >= 4 then
    local area = varint(c)
    local count, kind = math.floor(area / 16), area % 16 / 2
    if count ~= 1 then fail() end
    if kind == 4 then text = java_text(take(c, varint(c))) elseif kind == 3 then num = varint(c) else fail() end
  end
  local value = varint(c)
  if value == 0 then return nil end
  if value == 0x13 then return text or fail() end
  if value == 0x0b then return "" end
  if value == 0x10 then return num or fail() end
  if value == 0x08 then return 0 end
  fail()
end

local smartbuf_form = {
  text = smartbuf,
  kind = function(c)
    local v = smartbuf(c)
    return type(v) == "number" and v / 2 or fail() -- zigzag
  end,
}

local protobuf = {
  text = function(c)
    local message = { s = take(c, varint(c)), at = 1 }
    if message.s == "" then return "" end
    if byte(message) ~= 0x0a then fail() end
    return java_text(take(message, varint(message)))
  end,
  kind = function(c)
    local message = { s = take(c, varint(c)), at = 1 }
    if message.s == "" then return 0 end
    if byte(message) ~= 0x08 then fail() end
    return byte(message)
  end,
}

-- jsonb_size reads the length of a text of fastjson2.
local function jsonb_size(c)
  local b = byte(c)
  if b < 0x30 then return b end
  if b < 0x40 then return (b - 0x38) * 256 + byte(c) end
  if b < 0x48 then return (b - 0x44) * 65536 + number(c, 2) end
  if b == 0x48 then return number(c, 4) end
  fail()
end

local fastjson2 = {
  text = function(c)
    local d = { s = take(c, number(c, 4)), at = 1 }
    local op = byte(d)
    if op == 0xaf then return nil end
    if op >= 0x49 and op < 0x79 then return latin1(take(d, op - 0x49)) end
    local s = op >= 0x79 and op < 0x7e and take(d, jsonb_size(d)) or fail()
    if op == 0x79 then return latin1(s) end
    if op == 0x7a then return java_text(s) end
    local mark = op == 0x7b and s:sub(1, 2)
    if mark == "\255\254" or mark == "\254\255" then s = s:sub(3) end
    return utf16(s, op == 0x7d or op == 0x7b and mark ~= "\255\254")
  end,
  kind = function(c)
    local d = { s = take(c, number(c, 4)), at = 1 }
    local op = byte(d)
    return op == 0xbd and byte(d) or op
  end,
}

local msgpack = {
  text = function(c)
    local b = byte(c)
    if b == 0xc0 then return nil end
    local n = b >= 0xa0 and b < 0xc0 and b - 0xa0 or b >= 0xd9 and b < 0xdc and number(c, 2 ^ (b - 0xd9)) or fail()
    return java_text(take(c, n))
  end,
  kind = kind_byte,
}

-- fury reads a text; coder reads the number of bytes and their encoding: Latin-1, UTF-16 or UTF-8.
local function fury(coder)
  return {
    text = function(c)
      local d = { s = take(c, number_le(c, 4)), at = 1 }
      local null = byte(d)
      if null == 0 then return nil end
      if null ~= 1 then fail() end
      local n, encoding = coder(d)
      local s = take(d, n)
      if d.at <= #d.s then fail() end
      if encoding == 0 then return latin1(s) end
      if encoding == 1 then return utf16(s) end
      return encoding == 2 and java_text(s) or fail()
    end,
    kind = kind_byte,
  }
end

local fury02 = fury(function(d)
  local encoding = byte(d)
  return varint(d), encoding
end)
local fury010 = fury(function(d)
  local v = varint(d)
  return math.floor(v / 4), v % 4
end)

local forms = {
  ["dubbo"] = { dubbo_form },
  ["hessian2"] = { hessian },
  ["java"] = { java },
  ["compactedjava"] = { java },
  ["json"] = { json_lines },
  ["fastjson"] = { json_lines, json_prefixed },
  ["nativejava"] = { native_java },
  ["kryo"] = { kryo },
  ["fst"] = { fst, fst1 },
  ["native-hessian"] = { hessian },
  ["protostuff"] = { protostuff },
  ["avro"] = { avro },
  ["smartbuf"] = { smartbuf_form },
  ["gson"] = { json_lines },
  ["jackson"] = { json_lines },
  ["protobuf-json"] = { json_lines },
  ["protobuf"] = { protobuf },
  ["fastjson2"] = { fastjson2 },
  ["kryo2"] = { kryo },
  ["msgpack"] = { msgpack },
  ["fury"] = { fury02, fury010 },
  ["fury-compatible"] = { fury02, fury010 },
}

local function is_version(s) return s ~= nil and #s >= 3 and #s <= 32 and s:find("^%d[%w.+_-]*$") ~= nil and s:find(".", 1, true) ~= nil end

local primitives = { B = "byte", C = "char", D = "double", F = "float", I = "int", J = "long", S = "short", Z = "boolean", V = "void" }

-- java_types returns the names of a list of JVM descriptors, nil if it is none.
local function java_types(s)
  local names, at = {}, 1
  while at <= #s do
    local dims, class, stop = s:match("^(%[*)L([^;%[%c ]+);()", at)
    if class then
      class = class:gsub("/", ".")
    else
      local primitive
      dims, primitive, stop = s:match("^(%[*)([BCDFIJSZV])()", at)
      class = primitives[primitive]
    end
    if not class or #dims > 255 then return nil end
    names[#names + 1] = class .. ("[]"):rep(#dims)
    at = stop
  end
  return table.concat(names, ", ")
end

-- fields_of reads the first fields of a body in a form: a list of a ProtoField, the offsets of its bytes, and its value.
local function fields_of(h, form, body)
  local c, found = { s = body, at = 1 }, {}
  local function add(field, read)
    local from = c.at
    local value = read(c)
    found[#found + 1] = { field = field, from = from - 1, to = c.at - 1, value = value }
    return value
  end
  if h.request then
    if not is_version(add(f.dubbo_version, form.text)) then fail() end
    found.service = add(f.service, form.text)
    add(f.service_version, form.text)
    found.method = add(f.method, form.text)
    local ok, types = pcall(add, f.parameter_types, form.text)
    types = ok and types and java_types(types)
    if types then
      found[5].value = types
    else
      found[5], found.no_types = nil, true
    end
  elseif h.status == status_ok then
    found.kind = add(f.result_kind, form.kind)
    if found.kind < 0 or found.kind > 5 or found.kind % 1 ~= 0 then fail() end
  else
    add(f.error_message, form.text)
  end
  return found
end

-- read returns the name of the serialization and its fields; told has the form that the bodies of a connection had before, by id.
local function read(h, body, told)
  if h.event or body == "" then return nil end
  local form = told[h.serialization]
  if form and not h.request then
    local ok, found = pcall(fields_of, h, form, body)
    if ok then return form.name, found end
  end
  for _, name in ipairs(serializations[h.serialization] or {}) do
    for _, one in ipairs(forms[name] or {}) do
      local ok, found = pcall(fields_of, h, one, body)
      if ok then
        if h.request then told[h.serialization] = { name = name, text = one.text, kind = one.kind } end
        return name, found
      end
    end
  end
end

-- Frames ----------------------------------------------------------------------------------------------------------------------

local header_len = 16

-- header reads the header at an offset, nil if there is none; known is false where the stream does not say that one begins.
local function header(tvb, at)
  if tvb:len() - at < header_len or tvb(at, 2):uint() ~= 0xdabb then return nil end
  local flags = tvb(at + 2, 1)
  local h = {
    request = flags:bitfield(0, 1) == 1, two_way = flags:bitfield(1, 1) == 1, event = flags:bitfield(2, 1) == 1,
    serialization = flags:bitfield(3, 5), status = tvb(at + 3, 1):uint(), id = tostring(tvb(at + 4, 8):int64()),
    size = tvb(at + 12, 4):uint(),
  }
  if h.size >= 2 ^ 31 then return nil end
  local answers = statuses[h.status] and not h.two_way and not (h.event and h.status ~= status_ok)
  h.legal = (h.request and h.status == 0 or not h.request and answers) and
    not (h.event and (h.size > 256 or h.size == 0 and not empty_heartbeats[h.serialization] and serializations[h.serialization]))
  h.kind = h.request and "request" or "response"
  return h
end

-- begins reports whether a frame may begin at an offset where the stream does not say that one does. It returns nil if more bytes
-- are needed.
local function begins(tvb, at)
  local left = tvb:len() - at
  if left < header_len then return nil end
  local h = header(tvb, at)
  if not h or not h.legal or h.size > default_max_body then return false end
  if h.event then return true end
  if left < header_len + math.min(h.size, 64) then return nil end
  return read(h, tvb:raw(at + header_len, math.min(h.size, left - header_len, max_envelope)), {}) ~= nil or not serializations[h.serialization]
end

-- search returns the offset of the next frame and true, or of bytes that may begin one and false, or nil.
local function search(tvb, at)
  local bytes = tvb:raw()
  while true do
    at = bytes:find("\218\187", at + 1, true)
    if not at then break end
    at = at - 1
    local found = begins(tvb, at)
    if found ~= false then return at, found == true end
    at = at + 1
  end
  if bytes:sub(-1) == "\218" then return tvb:len() - 1, false end
end

-- Streams ---------------------------------------------------------------------------------------------------------------------

-- A stream has, for each side that sends, the sequence number of the next frame, if it is known, and the reassembled frame that
-- is due; the forms of its serializations; and the calls without a response.
local streams = {}
local plans = {} -- where the first frame of each data begins, for packets that are dissected again
local calls = {} -- by packet and ordinal of the frame

function dubbo.init() streams, plans, calls = {}, {}, {} end

local function last(field)
  local all = { field() }
  return all[#all] and all[#all].value or 0
end

local function side_of(pinfo)
  local stream = streams[last(tcp_stream)]
  if not stream then
    stream = { sides = {}, told = {}, open = {} }
    streams[last(tcp_stream)] = stream
  end
  local name = tostring(pinfo.src) .. " " .. pinfo.src_port
  local side = stream.sides[name]
  if not side then
    side = { name = name }
    stream.sides[name] = side
  end
  return side, stream
end

-- pair finds the call of a frame; the first time a packet is dissected, in capture order.
local function pair(h, found, pinfo, stream, side)
  local ordinal = tonumber(pinfo.private["dubbo"] or "0") + 1
  pinfo.private["dubbo"] = tostring(ordinal)
  local key = pinfo.number .. " " .. ordinal
  if pinfo.visited or calls[key] then return calls[key] or {} end
  local name = h.id .. (h.event and " event" or "")
  local call
  if h.request then
    call = { request = pinfo.number, since = pinfo.rel_ts, service = found and found.service, method = found and found.method }
    if h.two_way then
      local open = stream.open[side.name .. name]
      if not open then
        open = {}
        stream.open[side.name .. name] = open
      end
      open[#open + 1] = call
    end
  else
    call = {}
    for other in pairs(stream.sides) do
      local open = other ~= side.name and stream.open[other .. name]
      if open then
        call = table.remove(open, 1)
        if #open == 0 then stream.open[other .. name] = nil end
        call.response, call.time = pinfo.number, pinfo.rel_ts - call.since
        break
      end
    end
  end
  calls[key] = call
  return call
end

local function in_words(n, noun) return n .. " " .. noun .. (n == 1 and "" or "s") end

local function show(pinfo, text)
  pinfo.cols.protocol = "Dubbo"
  pinfo.cols.info:clear()
  if pinfo.private["dubbo info"] then text = ", " .. text end
  pinfo.private["dubbo info"] = "1"
  pinfo.cols.info:append(text)
  pinfo.cols.info:fence()
end

-- is_heartbeat tells a heartbeat from other events by its body, which is null.
local function is_heartbeat(h, body)
  local nulls = heartbeats[h.serialization]
  if h.size == 0 then return true end
  if not nulls or #body < h.size then return h.two_way or not h.request end
  for _, null in ipairs(nulls) do
    if body == null then return true end
  end
  return false
end

-- frame adds a frame to the tree. size is its length, of which tvb may have less.
local function frame(tvb, at, h, pinfo, root, stream, side)
  local have = math.min(tvb:len() - at, header_len + h.size)
  local body = have > header_len and tvb:raw(at + header_len, math.min(have - header_len, max_envelope)) or ""
  local name, found = read(h, body, stream.told)
  name = name or (stream.told[h.serialization] or {}).name or (serializations[h.serialization] or {})[1] or "id " .. h.serialization
  if h.event then h.kind = is_heartbeat(h, body) and "heartbeat" or "event" end
  local call = pair(h, found, pinfo, stream, side)

  local method = call.method and (call.service or "?"):match("[^.]*$") .. "." .. call.method
  local title = h.kind:gsub("^%l", string.upper)
  if h.event and not h.request then title = title .. " response" end
  title = title .. (method and " " .. method or "") .. " id=" .. h.id .. " " .. name .. " " .. h.size .. " B"
  if not h.request and h.status ~= status_ok then title = title .. " " .. (statuses[h.status] or "status " .. h.status) end
  if found and (found.kind == 0 or found.kind == 3) then title = title .. " exception" end
  show(pinfo, title)

  local tree = root:add(dubbo, tvb(at, have), "Apache Dubbo, " .. title)
  tree:add(f.magic, tvb(at, 2))
  local flags = tree:add(f.flags, tvb(at + 2, 1))
  for _, field in ipairs({ f.request, f.two_way, f.event, f.serialization_id }) do flags:add(field, tvb(at + 2, 1)) end
  tree:add(f.serialization, tvb(at + 2, 1), name):set_generated()
  tree:add(f.kind, tvb(at + 2, 1), h.kind):set_generated()
  if not h.request then
    local status = tree:add(f.status, tvb(at + 3, 1))
    if h.status ~= status_ok then status:add_proto_expert_info(x.error_status) end
  end
  tree:add(f.id, tvb(at + 4, 8))
  local length = tree:add(f.body_bytes, tvb(at + 12, 4))
  if not h.legal then tree:add_proto_expert_info(x.header) end

  local rest = at + header_len
  for _, one in ipairs(found or {}) do
    local range = tvb(rest + one.from, one.to - one.from)
    local item
    if one.value == nil then
      item = tree:add(one.field, range, "")
      item:append_text(" (null)")
    else
      item = tree:add(one.field, range, one.value)
    end
    if one.field == f.result_kind and (one.value == 0 or one.value == 3) then item:add_proto_expert_info(x.exception) end
  end
  if found and found[#found] then rest = rest + found[#found].to end
  if rest < at + have then
    local item = tree:add(f.values, tvb(rest, at + have - rest))
    if found or h.event then
      item:set_text(h.event and "Event data: " .. in_words(at + have - rest, "byte")
        or (h.request and "Arguments, attachments: " or "Values: ") .. in_words(at + have - rest, "byte") .. ", not decoded here")
    else
      item:add_proto_expert_info(x.undecoded)
    end
  end
  if found and found.no_types then tree:add_proto_expert_info(x.types) end
  if have < header_len + h.size then
    length:add_proto_expert_info(x.incomplete, "The body is not complete here: " .. in_words(have - header_len, "byte") .. " of " .. h.size)
  end

  if h.request then
    if call.response then tree:add(f.response_in, call.response):set_generated() end
  elseif call.request then
    if call.service then tree:add(f.service, call.service):set_generated() end
    if call.method then tree:add(f.method, call.method):set_generated() end
    tree:add(f.request_in, call.request):set_generated()
    local seconds = math.floor(call.time)
    tree:add(f.time, NSTime.new(seconds, math.floor((call.time - seconds) * 1e9 + 0.5))):set_generated()
  end
end

-- outside adds bytes that belong to no frame in this data.
local function outside(tvb, at, n, pinfo, root, within)
  if n <= 0 then return end
  local tree = root:add(dubbo, tvb(at, n))
  local text = not within and tvb:raw(at, math.min(n, 4096))
  if text and not text:find("[^%g\t\r\n\b\27\3 \128-\244\255]") and (text:find("\n", 1, true) or text:find("dubbo>", 1, true)) then
    text = java_text(text)
    tree:add(f.telnet, tvb(at, n), text)
    show(pinfo, "Telnet: " .. text:gsub("%c+", " "))
  elseif within then
    tree:add(f.continuation, tvb(at, n))
    show(pinfo, "Continuation of a frame, " .. in_words(n, "byte"))
  else
    tree:add(f.stray, tvb(at, n))
    show(pinfo, in_words(n, "byte") .. " outside of frames")
  end
end

local function wait(pinfo, at, more)
  pinfo.desegment_offset, pinfo.desegment_len = at, more
end

-- start returns where the first frame of the data is due and whether its place is known, and how many bytes continue a frame before.
local function start(tvb, pinfo, side, seq)
  local left = side.next and (side.next - seq) % 2 ^ 32
  if left == 0 then return 0, true, 0 end
  if left and left < 2 ^ 31 and not begins(tvb, 0) then -- else a segment that arrives late
    local n = math.min(left, tvb:len())
    return n, true, n
  end
  local h = not left and header(tvb, 0)
  return 0, h and h.legal, 0
end

local function dissect(tvb, pinfo, root)
  local size = tvb:len()
  local side, stream = side_of(pinfo)
  local seq = last(tcp_nxtseq) - tvb:reported_len()
  local due = side.due
  if due and due.size == size and size >= header_len and tvb:raw(0, header_len) == due.head then seq = due.seq end

  local plan = plans[pinfo.number .. " " .. seq .. " " .. size]
  if not plan then
    local at, known, within = start(tvb, pinfo, side, seq)
    plan = { at = at, known = known, within = within }
    plans[pinfo.number .. " " .. seq .. " " .. size] = plan
  end
  local at, known = plan.at, plan.known
  local may_wait = pinfo.can_desegment > 0
  if plan.within == 0 and not known and not search(tvb, 0) and not side.next then
    local text = tvb:raw(0, math.min(size, 4096))
    if not side.frames then return 0 end
  end
  outside(tvb, 0, plan.within, pinfo, root, true)
  local function advance(to) -- the next frame is due there
    local n = (seq + to) % 2 ^ 32
    if not side.next or (n - side.next) % 2 ^ 32 < 2 ^ 31 then side.next = n end
  end
  if plan.within > 0 and at < size then advance(at) end

  while at < size do
    local h = header(tvb, at)
    if not known or not h and (size - at >= header_len or ("\218\187"):sub(1, size - at) ~= tvb:raw(at, math.min(2, size - at))) then
      local found, sure = search(tvb, at)
      if found and not sure and may_wait then
        outside(tvb, at, found - at, pinfo, root)
        side.next = nil
        wait(pinfo, found, DESEGMENT_ONE_MORE_SEGMENT)
        return size
      end
      outside(tvb, at, (sure and found or size) - at, pinfo, root)
      if not sure then
        side.next = nil
        return size
      end
      at, known, h = found, true, header(tvb, found)
    end
    if not h then -- part of one
      if may_wait then
        wait(pinfo, at, DESEGMENT_ONE_MORE_SEGMENT)
      else
        outside(tvb, at, size - at, pinfo, root)
      end
      return size
    end
    local stop = at + header_len + h.size
    if stop > size and may_wait and h.size <= dubbo.prefs.max_body then
      side.due = { seq = (seq + at) % 2 ^ 32, size = header_len + h.size, head = tvb:raw(at, header_len) }
      wait(pinfo, at, stop - size)
      return size
    end
    frame(tvb, at, h, pinfo, root, stream, side)
    side.frames = true
    at = stop
    advance(at)
  end
  return size
end

function dubbo.dissector(tvb, pinfo, root) return dissect(tvb, pinfo, root) end

-- Frames are recognised on any port. On the default port a capture may begin in the middle of a frame.
DissectorTable.get("tcp.port"):add(20880, dubbo)

dubbo:register_heuristic("tcp", function(tvb, pinfo, root)
  local at = tvb:len() >= header_len and search(tvb, 0)
  local h = at and header(tvb, at)
  if not h or not h.legal or at > 0 and not begins(tvb, at) then return false end
  if at == 0 and begins(tvb, 0) == false then return false end
  pinfo.conversation = dubbo
  dissect(tvb, pinfo, root)
  return true
end)
