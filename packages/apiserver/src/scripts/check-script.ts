const matchFields: ReadonlySet<string> = new Set(['namespace', 'name', 'container']);
const scriptFields: ReadonlySet<string> = new Set(['log', 'previousLog', 'exec', 'attach', 'ports']);

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function requireFields(value: unknown, what: string, known: ReadonlySet<string>): object {
  if (!isObject(value)) throw new TypeError(`${what}: expected an object, got ${String(value)}`);
  const unknown = Object.keys(value).find((field) => !known.has(field));
  if (unknown !== undefined)
    throw new TypeError(`${what}: ${JSON.stringify(unknown)} is not known; it takes ${[...known].join(', ')}`);
  return value;
}

/** Refuses a script that could never answer, at the call that adds it. @throws TypeError */
export function checkScript(match: unknown, script: unknown): void {
  for (const [field, value] of Object.entries(requireFields(match, 'match of a pod script', matchFields)))
    if (value !== undefined && typeof value !== 'string')
      throw new TypeError(`match of a pod script: ${field} must be a string`);
  for (const [field, value] of Object.entries(requireFields(script, 'pod script', scriptFields))) {
    if (value === undefined) continue;
    if (field === 'ports') checkPorts(value);
    else if (field === 'exec' || field === 'attach') {
      if (typeof value !== 'function') throw new TypeError(`pod script: ${field} must be a function`);
    } else if (!isLog(value))
      throw new TypeError(`pod script: ${field} must be a string, lines that can be iterated, or a function`);
    else if (Array.isArray(value)) value.forEach(checkLine);
  }
}

function isLog(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'function') return true;
  return isObject(value) && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

function checkPorts(ports: unknown): void {
  if (!isObject(ports)) throw new TypeError('pod script: ports must be an object, by number');
  for (const [port, take] of Object.entries(ports)) {
    if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
      throw new TypeError(`pod script: ports: ${JSON.stringify(port)} is not a port from 1 to 65535`);
    if (take !== undefined && typeof take !== 'function')
      throw new TypeError(`pod script: ports: what takes connections of ${port} must be a function`);
  }
}

/** A line as it must be. @throws TypeError */
export function checkLine(line: unknown): void {
  if (typeof line === 'string') return;
  const text: unknown = isObject(line) ? Reflect.get(line, 'text') : undefined;
  const time: unknown = isObject(line) ? Reflect.get(line, 'time') : undefined;
  if (typeof text !== 'string') throw new TypeError('pod script: a line of a log must be a string or { text, time }');
  if (time !== undefined && (typeof time !== 'string' || Number.isNaN(Date.parse(time))))
    throw new TypeError(
      `pod script: the time of a line must be RFC 3339, not ${typeof time === 'string' ? time : typeof time}`,
    );
}
