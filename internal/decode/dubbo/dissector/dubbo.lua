-- A Wireshark dissector of Apache Dubbo's own protocol ("dubbo://"), written by "dubbo-wire lua". It shows the header of each
-- frame, the envelope of its body, and which response answers which request. It does not read arguments, results and
-- attachments: "dubbo-wire explain FILE --packet N" does.
--
-- It is for Wireshark 3 and 4, whose Lua is 5.2 to 5.4.

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
  response_in = ProtoField.framenum("dubbo.response_in", "Response in", base.NONE, frametype.RESPONSE),
  request_in = ProtoField.framenum("dubbo.request_in", "Request in", base.NONE, frametype.REQUEST),
  time = ProtoField.relative_time("dubbo.time", "Time since request"),
  stray = ProtoField.none("dubbo.stray", "Stray bytes"),
  continuation = ProtoField.none("dubbo.continuation", "Continuation of a frame"),
  telnet = ProtoField.string("dubbo.telnet", "Telnet"),
}
dubbo.fields = f

local x = {
  error_status = ProtoExpert.new("dubbo.error_status", "The status is not OK", expert.group.RESPONSE_CODE, expert.severity.WARN),
  exception = ProtoExpert.new("dubbo.exception", "The result is an exception", expert.group.RESPONSE_CODE, expert.severity.NOTE),
  header = ProtoExpert.new("dubbo.header_invalid", "Dubbo does not write such a header", expert.group.MALFORMED, expert.severity.WARN),
  incomplete = ProtoExpert.new("dubbo.incomplete", "The body is not complete here", expert.group.REASSEMBLE, expert.severity.WARN),
  undecoded = ProtoExpert.new("dubbo.undecoded", "Envelope not decoded here: use dubbo-wire explain", expert.group.UNDECODED, expert.severity.NOTE),
  foreign = ProtoExpert.new("dubbo.serialization_differs", "The body is not in the header's serialization", expert.group.UNDECODED, expert.severity.NOTE),
  lost = ProtoExpert.new("dubbo.lost", "Data before is missing or late; if it is late, turn on the preference tcp.reassemble_out_of_order",
    expert.group.SEQUENCE, expert.severity.NOTE),
  types = ProtoExpert.new("dubbo.types_undecoded", "Parameter types not decoded here: use dubbo-wire explain", expert.group.UNDECODED, expert.severity.NOTE),
}
dubbo.experts = x

local tcp_stream, tcp_nxtseq = Field.new("tcp.stream"), Field.new("tcp.nxtseq")

-- Texts -----------------------------------------------------------------------------------------------------------------------

-- A cursor reads the string c.s from position c.at on. Functions that read raise an error that read() catches.

local max_envelope = 1048576 -- bytes of a body that are read

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
  local v, unit = 0, 1
  for _ = 1, n do v, unit = v + byte(c) * unit, unit * 256 end
  return v
end

-- varint reads a number of up to five bytes with seven bits each, the low ones first. The last byte is below 128, or if high is set
-- the only one that is not.
local function varint(c, high)
  local v, unit = 0, 1
  for _ = 1, 5 do
    local b = byte(c)
    v, unit = v + b % 128 * unit, unit * 128
    if (b >= 128) == (high or false) then return v end
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

-- from_utf16 joins UTF-16 units.
local function from_utf16(units)
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

local lead_bits = { [0] = 128, 32, 16, 8 } -- by the number of bytes that follow

-- java_text returns UTF-8 for bytes of UTF-8 or of Java's form of it, in which each UTF-16 unit has a sequence of its own.
local function java_text(s)
  if not s:find("[\128-\255]") then return s end
  local units, at = {}, 1
  while at <= #s do
    local b = s:byte(at)
    local n = b < 0x80 and 0 or b >= 0xc2 and b < 0xe0 and 1 or b >= 0xe0 and b < 0xf0 and 2 or b >= 0xf0 and b < 0xf5 and 3
    local u = n and b % lead_bits[n] or 0xfffd
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
    units[#units + 1] = u
  end
  return from_utf16(units)
end

-- latin1 and utf16 decode a string of bytes.
local function latin1(s) return from_utf16({ s:byte(1, math.min(#s, 4096)) }) end

local function utf16(s, big)
  local units = {}
  for i = 1, math.min(#s, 8192) - 1, 2 do
    local a, b = s:byte(i, i + 1)
    units[#units + 1] = big and a * 256 + b or b * 256 + a
  end
  return from_utf16(units)
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

-- A form is how a serialization writes a text (nil for null) and the kind of a result, 0 to 5; minus_one is the bytes of the int -1,
-- which bytes reads (take, if there is none). Some serializations have several forms. A generic one may be that of any serialization.

local function kind_byte(c) return byte(c) end

local hessian = {
  text = function(c)
    local chunks = {}
    while true do
      local b = byte(c)
      if b == 0x4e and #chunks == 0 then return nil end
      local n = b < 0x20 and b or b >= 0x30 and b < 0x34 and (b - 0x30) * 256 + byte(c) or (b == 0x52 or b == 0x53) and number(c, 2)
      chunks[#chunks + 1] = units(c, n or fail())
      if b ~= 0x52 then return table.concat(chunks) end
    end
  end,
  kind = function(c) return byte(c) - 0x90 end,
  minus_one = "\143",
}

local dubbo_form = {
  text = function(c)
    local tag = byte(c)
    if tag == 0x94 then return nil end
    if tag == 0x95 then return "" end
    if tag ~= 0x83 then fail() end
    return units(c, varint(c, true))
  end,
  kind = function(c) return byte(c) - 0x19 end,
}

-- block reads n bytes of a Java object stream, which cuts its data into blocks.
local function block(c, n)
  if c.at == 1 and take(c, 4) ~= "\172\237\0\5" then fail() end
  local pieces = {}
  while n > 0 do
    if (c.block or 0) == 0 then
      local tag = byte(c)
      c.block = tag == 0x77 and byte(c) or tag == 0x7a and number(c, 4) or fail()
    else
      local k = math.min(c.block, n)
      pieces[#pieces + 1] = take(c, k)
      c.block, n = c.block - k, n - k
    end
  end
  return table.concat(pieces)
end

local function block_number(c, n) return number({ s = block(c, n), at = 1 }, n) end

local java = {
  text = function(c)
    if block_number(c, 4) == 0xffffffff then return nil end -- else the number of characters
    return java_text(block(c, block_number(c, 2)))
  end,
  kind = function(c) return block_number(c, 1) end,
  minus_one = "\255\255\255\255",
  bytes = block,
}

local native_java = {
  text = function(c) return java_text(block(c, block_number(c, 2))) end,
  kind = java.kind,
  minus_one = java.minus_one,
  bytes = block,
}

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
        out[#out + 1] = from_utf16(run)
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
  minus_one = "\255\255\255\255",
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
    return from_utf16(all)
  end,
  kind = kind_byte,
  minus_one = "\255",
}

-- FST 1 is that of Dubbox. An empty text and the start of a number look the same. Its texts are those of Java's DataOutput.
local fst1 = {
  text = function(c) return java_text(take(c, number(c, 2))) end,
  kind = kind_byte,
  minus_one = "\255\255\255\255",
  numbers_like_empty = true,
  generic = true,
}

local avro = {
  text = function(c)
    local n = varint(c)
    if n % 2 ~= 0 then fail() end
    return java_text(take(c, math.floor(n / 2)))
  end,
  kind = kind_byte,
}

local protostuff = { text = function(c) return java_text(take(c, number(c, 4))) end, kind = kind_byte, generic = true }

-- smartbuf reads a packet with a text, null or a small number.
local function smartbuf(c)
  local head = byte(c)
  if head < 0x10 or head > 0x1f then fail() end
  if head % 2 == 1 then byte(c) end -- the number of the packet
  if head % 4 >= 2 then fail() end -- has classes
  local text, num
  if head % 8 >= 4 then
    local area = varint(c)
    if area == 0x18 then text = java_text(take(c, varint(c))) elseif area == 0x16 then num = varint(c) else fail() end
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
    return type(v) == "number" and v % 2 == 0 and math.floor(v / 2) or fail()
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
    local n = b >= 0xa0 and b < 0xc0 and b - 0xa0 or number(c, b == 0xd9 and 1 or b == 0xda and 2 or b == 0xdb and 4 or fail())
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

local all_forms = {} -- each once, with the names of its serializations
for name, list in pairs(forms) do
  for _, form in ipairs(list) do
    if not form.names then all_forms[#all_forms + 1] = form end
    form.names = form.names or {}
    form.names[#form.names + 1] = name
  end
end

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

-- types_of reads the parameter types of a request, or nil. Forks of Dubbo write a number before them, or in place of them; only -1
-- tells that types follow.
local function types_of(c, form)
  local from, in_block = c.at, c.block
  local ok, types = pcall(form.text, c)
  types = ok and types and java_types(types)
  if types and not (types == "" and form.numbers_like_empty) then return types end
  c.at, c.block = from, in_block
  if form.minus_one and pcall(function()
    types = (form.bytes or take)(c, #form.minus_one) == form.minus_one and java_types(form.text(c))
  end) and types then return types end
  c.at, c.block = from, in_block
end

-- fields_of reads the first fields of a body in a form: a list of a ProtoField, the offsets of its bytes, and its value.
local function fields_of(h, form, body)
  local c, found = { s = body, at = 1 }, {}
  local function add(field, reader)
    local from = c.at
    local value = reader(c, form)
    if c.at > from then found[#found + 1] = { field = field, from = from - 1, to = c.at - 1, value = value } end
    return value
  end
  if h.request then
    if not is_version(add(f.dubbo_version, form.text)) then fail() end
    found.service = add(f.service, form.text)
    add(f.service_version, form.text)
    found.method = add(f.method, form.text)
    found.types = add(f.parameter_types, types_of)
  elseif h.status == status_ok then
    found.kind = add(f.result_kind, form.kind)
    if found.kind < 0 or found.kind > 5 then fail() end
  else
    add(f.error_message, form.text)
  end
  return found
end

-- read returns the fields of a body, nil if they cannot be read. told has, by id, the form that the requests of the connection have
-- and the name that belongs to it.
local function read(h, body, told)
  if h.event or body == "" then return nil end
  local function try(form, name, foreign)
    local ok, found = pcall(fields_of, h, form, body)
    if not ok then return nil end
    found.form, found.name, found.foreign = form, name, foreign
    return found
  end
  local known = told[h.serialization]
  local found = known and not h.request and try(known.form, known.name, known.foreign)
  local names = serializations[h.serialization] or {}
  for _, name in ipairs(names) do
    for _, form in ipairs(forms[name] or {}) do found = found or try(form, name) end
  end
  if not found and h.request then -- in another serialization than the header says, if only one can be meant
    for _, form in ipairs(all_forms) do
      local other = not form.generic and try(form, names[1], true)
      if other and other.types and (other.method or ""):find("^[%w_$\128-\255]+$") then
        if found then return nil end
        found = other
      end
    end
  end
  if found and h.request then told[h.serialization] = { form = found.form, name = found.name, foreign = found.foreign } end
  return found
end

-- Frames ----------------------------------------------------------------------------------------------------------------------

local header_len = 16

-- header reads the header at an offset, nil if there is none. A legal header is one that Dubbo writes.
local function header(tvb, at)
  if tvb:len() - at < header_len then return nil end
  local magic1, magic2, flags, status, _, _, _, _, _, _, _, _, b1, b2, b3, b4 = tvb:raw(at, header_len):byte(1, header_len)
  if magic1 ~= 0xda or magic2 ~= 0xbb or b1 >= 128 then return nil end
  local h = {
    request = flags >= 128, two_way = flags % 128 >= 64, event = flags % 64 >= 32, serialization = flags % 32,
    status = status, size = ((b1 * 256 + b2) * 256 + b3) * 256 + b4,
  }
  if h.request then
    h.legal = status == 0
  else
    h.legal = statuses[status] ~= nil and not h.two_way and not (h.event and status ~= status_ok)
  end
  if h.event and (h.size > 256 or h.size == 0 and not empty_heartbeats[h.serialization] and serializations[h.serialization]) then
    h.legal = false
  end
  return h
end

-- begins reports whether a frame may begin at an offset where the stream does not say that one does, by its header and by the first
-- field of its body. It returns nil if that takes more bytes.
local function begins(tvb, at)
  local left = tvb:len() - at
  if left < header_len then return nil end
  local h = header(tvb, at)
  if not h or not h.legal or h.size > default_max_body then return false end
  if h.event then return true end
  if left < header_len + math.min(h.size, 64) then return nil end
  local start = tvb:raw(at + header_len, math.min(h.size, 64))
  if not h.request and h.status ~= status_ok then return true end
  for _, form in ipairs(all_forms) do
    local ok, value = pcall(h.request and form.text or form.kind, { s = start, at = 1 })
    if ok and (h.request and is_version(value) or not h.request and value >= 0 and value <= 5) then return true end
  end
  return false
end

-- search returns the offset of the next frame and true, or of bytes that may begin one and false, or nil.
local function search(tvb, at)
  local bytes = tvb:raw()
  while true do
    local found = bytes:find("\218\187", at + 1, true)
    if not found then break end
    at = found - 1
    local sure = begins(tvb, at)
    if sure ~= false then return at, sure == true end
    at = at + 1
  end
  if bytes:sub(-1) == "\218" then return #bytes - 1, false end
end

-- Streams ---------------------------------------------------------------------------------------------------------------------

local two31, two32 = 2147483648, 4294967296

-- A stream has two sides, by the address and port that sends, and by id the forms of its serializations. A side has the sequence
-- number at which its next frame is due, the frame that is being reassembled, and by id its requests without a response.
local streams = {}
local plans = {} -- what plan_for found, for packets that are dissected again
local calls = {} -- by packet and frame in it

function dubbo.init() streams, plans, calls = {}, {}, {} end

local function last(field)
  local all = { field() }
  return all[#all] and all[#all].value or 0
end

local function side_of(pinfo)
  local number = last(tcp_stream)
  local stream = streams[number]
  if not stream then
    stream = { sides = {}, told = {} }
    streams[number] = stream
  end
  local name = tostring(pinfo.src) .. " " .. pinfo.src_port
  local side = stream.sides[name]
  if not side then
    side = { open = {} }
    stream.sides[name] = side
  end
  return side, stream
end

-- pair finds the call of a frame when its packet is dissected for the first time, in capture order.
local function pair(h, id, found, pinfo, stream, side)
  local ordinal = tonumber(pinfo.private["dubbo"] or "0") + 1
  pinfo.private["dubbo"] = tostring(ordinal)
  local key = pinfo.number * 65536 + ordinal
  if pinfo.visited then return calls[key] or {} end
  if h.event then id = id .. " event" end
  local call = {}
  if h.request then
    call.request, call.since, call.service, call.method = pinfo.number, pinfo.rel_ts, found and found.service, found and found.method
    if h.two_way then
      side.open[id] = side.open[id] or {}
      table.insert(side.open[id], call)
    end
  else
    for _, other in pairs(stream.sides) do
      local open = other ~= side and other.open[id]
      if open then
        call = table.remove(open, 1)
        if #open == 0 then other.open[id] = nil end
        call.response, call.time = pinfo.number, pinfo.rel_ts - call.since
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
  return nulls[body] ~= nil
end

-- frame adds a frame to the tree. size is its length, of which tvb may have less.
local function frame(tvb, at, h, pinfo, root, stream, side)
  local have = math.min(tvb:len() - at, header_len + h.size)
  local body = have > header_len and tvb:raw(at + header_len, math.min(have - header_len, max_envelope)) or ""
  local found = read(h, body, stream.told)
  local name = found and found.name or h.event and (heartbeats[h.serialization] or {})[body] or (stream.told[h.serialization] or {}).name
    or (serializations[h.serialization] or {})[1] or "id " .. h.serialization
  local id = tostring(tvb(at + 4, 8):int64())
  local call = pair(h, id, found, pinfo, stream, side)

  local kind = not h.event and (h.request and "request" or "response") or is_heartbeat(h, body) and "heartbeat" or "event"
  local title = kind:gsub("^%l", string.upper)
  if h.event and not h.request then title = title .. " response" end
  if call.method then title = title .. " " .. (call.service or "?"):match("[^.]*$") .. "." .. call.method end
  title = title .. " id=" .. id .. " " .. name .. " " .. h.size .. " B"
  if not h.request and h.status ~= status_ok then title = title .. " " .. (statuses[h.status] or "status " .. h.status) end
  if found and (found.kind == 0 or found.kind == 3) then title = title .. " exception" end
  show(pinfo, title)

  local tree = root:add(dubbo, tvb(at, have), "Apache Dubbo, " .. title)
  local flags, status = tvb(at + 2, 1), tvb(at + 3, 1)
  tree:add(f.magic, tvb(at, 2))
  local item = tree:add(f.flags, flags)
  item:add(f.request, flags)
  item:add(f.two_way, flags)
  item:add(f.event, flags)
  item:add(f.serialization_id, flags)
  tree:add(f.serialization, flags, name):set_generated()
  tree:add(f.kind, flags, kind):set_generated()
  if not h.request then
    item = tree:add(f.status, status)
    if h.status ~= status_ok then item:add_proto_expert_info(x.error_status) end
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
    local n = at + have - rest
    local what = h.event and "Event data" or not found and "Body" or h.request and "Arguments, attachments" or "Values"
    local item = tree:add(tvb(rest, n), what .. ": " .. in_words(n, "byte"))
    if not found and not h.event then item:add_proto_expert_info(x.undecoded) end
  end
  if found and h.request and not found.types then tree:add_proto_expert_info(x.types) end
  if found and found.foreign then
    tree:add_proto_expert_info(x.foreign, "The body is not in the header's serialization: it begins as in " .. table.concat(found.form.names, " or "))
  end
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

-- outside adds n bytes that belong to no frame in this data: they continue the frame before (within), or follow a gap (lost).
local function outside(tvb, at, n, pinfo, root, within, lost)
  if n <= 0 then return end
  local tree = root:add(dubbo, tvb(at, n))
  local text = tvb:raw(at, math.min(n, 4096))
  if within then
    tree:add(f.continuation, tvb(at, n))
    show(pinfo, "Continuation of a frame, " .. in_words(n, "byte"))
  elseif not text:find("[^%g\t\r\n\b\27\3 \128-\244\255]") and (text:find("\n", 1, true) or text:find("dubbo>", 1, true)) then
    text = java_text(text)
    tree:add(f.telnet, tvb(at, n), text)
    show(pinfo, "Telnet: " .. text:gsub("%c+", " "))
  else
    local item = tree:add(f.stray, tvb(at, n))
    if lost then item:add_proto_expert_info(x.lost) end
    show(pinfo, in_words(n, "stray byte"))
  end
end

-- A plan says where the first frame of some data is due, and whether that is certain (known); the number of bytes before it that
-- continue another frame (within); whether data before is missing or late (lost); and whether the data is Dubbo's (ours).
local usual = { at = 0, known = true, within = 0, ours = true }

local function plan_for(tvb, side, seq)
  local size = tvb:len()
  local left = side.next and (side.next - seq) % two32
  if left == 0 then return usual end
  if left and left < two31 and not begins(tvb, 0) then -- else a segment that arrives late
    local n = math.min(left, size)
    return { at = n, known = true, within = n, ours = true }
  end
  local h = header(tvb, 0)
  local known = h ~= nil and h.legal and (not side.frames or begins(tvb, 0) ~= false)
  local lost = left and left >= two31
  if known and not lost then return usual end
  return { at = 0, known = known, within = 0, lost = lost, ours = known or side.frames or search(tvb, 0) ~= nil }
end

local function wait(pinfo, at, more)
  pinfo.desegment_offset, pinfo.desegment_len = at, more
end

local function dissect(tvb, pinfo, root)
  local size = tvb:len()
  local side, stream = side_of(pinfo)
  local first = tvb:raw(0, math.min(size, header_len))
  local due = side.due
  local seq = due and due.size == size and due.head == first and due.seq or (last(tcp_nxtseq) - tvb:reported_len()) % two32

  local plan
  if pinfo.visited then
    plan = plans[pinfo.number .. " " .. size .. " " .. first] or usual
  else
    plan = plan_for(tvb, side, seq)
    if plan ~= usual then plans[pinfo.number .. " " .. size .. " " .. first] = plan end
  end
  if not plan.ours then return 0 end

  local may_wait = pinfo.can_desegment > 0
  local function advance(to) -- the next frame is due there; nil: nobody knows
    if pinfo.visited then return end
    local n = to and (seq + to) % two32
    if not to or not side.next or (n - side.next) % two32 < two31 then side.next = n end
  end

  outside(tvb, 0, plan.within, pinfo, root, true)
  local at, known = plan.at, plan.known
  while at < size do
    local h = header(tvb, at)
    local part = size - at < header_len and ("\218\187"):sub(1, size - at) == tvb:raw(at, math.min(2, size - at))
    if not known or not h and not part then
      local found, sure = search(tvb, at)
      local wanted = found and not sure and may_wait
      outside(tvb, at, (sure or wanted) and found - at or size - at, pinfo, root, false, plan.lost)
      if not sure then
        advance(nil)
        if wanted then wait(pinfo, found, DESEGMENT_ONE_MORE_SEGMENT) end
        return size
      end
      at, known, h, part = found, true, header(tvb, found), false
    end
    local length = h and header_len + h.size
    if part or at + length > size and may_wait and h.size <= dubbo.prefs.max_body then
      advance(at)
      if not may_wait then
        outside(tvb, at, size - at, pinfo, root)
      elseif part then
        wait(pinfo, at, DESEGMENT_ONE_MORE_SEGMENT)
      else
        if not pinfo.visited then side.due = { seq = (seq + at) % two32, size = length, head = tvb:raw(at, header_len) } end
        wait(pinfo, at, at + length - size)
      end
      return size
    end
    frame(tvb, at, h, pinfo, root, stream, side)
    side.frames = true
    at = at + length
    advance(at)
  end
  return size
end

function dubbo.dissector(tvb, pinfo, root) return dissect(tvb, pinfo, root) end

-- Frames are recognised on any port. On Dubbo's default port a capture may begin in the middle of a frame, too.
DissectorTable.get("tcp.port"):add(20880, dubbo)

dubbo:register_heuristic("tcp", function(tvb, pinfo, root)
  local at, sure = search(tvb, 0)
  if not at or not sure and at > 0 or not header(tvb, at) then return false end
  pinfo.conversation = dubbo
  return dissect(tvb, pinfo, root) > 0
end)
