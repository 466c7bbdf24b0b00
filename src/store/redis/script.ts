/**
 * The script that counts a batch of requests inside Redis, where nothing else runs meanwhile. Its keys are what is counted; its first argument
 * is the batch as JSON, a list of `[rates, back, now]` with `[key's place, kind, limit, window, capacity, cost, memory]` for each rate, and when
 * and before what it was counted behind it where it is given back. It answers a line for each request: when it was decided, and five numbers for each rate.
 * @param rules How each kind counts, by its word: the body of a Lua function that returns `decide` and `giveBack`.
 */
export function scriptOf(rules: ReadonlyMap<string, string>): string {
  const kinds = [...rules].map(([word, body]) => `[${JSON.stringify(word)}] = (function() ${body} end)()`);
  return `local kinds = {${kinds.join(',\n')}}
${counting}`;
}

const counting = `
local time = redis.call('TIME')
local machine = time[1] * 1000 + math.floor(time[2] / 1000)
local uses, memories = {}, {}
local function text(number) return string.format('%.17g', number) end
local function useOf(place)
  if not uses[place] then
    local use = {}
    for number in string.gmatch(redis.call('GET', KEYS[place]) or '', '%S+') do use[#use + 1] = tonumber(number) end
    uses[place] = use
  end
  return uses[place]
end
local function factsOf(rate) return { limit = rate[3], window = rate[4], capacity = rate[5] } end
local function keep(rate, use)
  uses[rate[1]] = use
  memories[rate[1]] = rate[7]
end
local lines = {}
for _, asked in ipairs(cjson.decode(ARGV[1])) do
  local now = asked[3] or machine
  local line, tried, isAllowed = { text(now) }, {}, #asked[1] > 0
  for at, rate in ipairs(asked[1]) do
    local use = {}
    for place, number in ipairs(useOf(rate[1])) do use[place] = number end
    local fits, remaining, more, wait, before = kinds[rate[2]].decide(factsOf(rate), use, now, rate[6])
    tried[at] = use
    isAllowed = isAllowed and fits
    line[#line + 1] = table.concat({ fits and '1' or '0', text(remaining), text(more), text(wait), text(before) }, ' ')
  end
  if isAllowed then
    for at, rate in ipairs(asked[1]) do keep(rate, tried[at]) end
  else
    for _, rate in ipairs(asked[2]) do
      local use = useOf(rate[1])
      kinds[rate[2]].giveBack(factsOf(rate), use, now, rate[8], rate[6], rate[9])
      keep(rate, use)
    end
  end
  lines[#lines + 1] = table.concat(line, ' ')
end
for place, memory in pairs(memories) do
  local use, texts = uses[place], {}
  for at, number in ipairs(use) do texts[at] = text(number) end
  if #use == 0 then
    redis.call('DEL', KEYS[place])
  else
    redis.call('SET', KEYS[place], table.concat(texts, ' '), 'PX', math.ceil(memory))
  end
end
return table.concat(lines, '\\n')`;
