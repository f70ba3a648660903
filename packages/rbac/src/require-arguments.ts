import { shownType } from '@kctl/options';

/** Refuses what is not a list of needs, or has an element that is not one. @throws TypeError naming the element */
export function requireNeeds(what: string, needs: unknown): void {
  const expected = 'expected what accessTo returns';
  for (const [at, need] of elements(what, 'needs', needs).entries()) {
    const isNeed = isRight(need) && isNames(need, 'namespaces') && isNames(need, 'names');
    if (!isNeed || !isVerbs(Reflect.get(need, 'verbs')))
      throw new TypeError(`${what}: needs[${at}] is ${isRight(need) ? 'not valid' : shownType(need)}: ${expected}`);
  }
}

/** Refuses what is not a list of counted uses. @throws TypeError naming the element */
export function requireUses(what: string, name: string, uses: unknown): void {
  const expected = 'expected what AccessRecorder.uses returns';
  for (const [at, use] of elements(what, name, uses).entries())
    if (!isRight(use)) throw new TypeError(`${what}: ${name}[${at}] is ${shownType(use)}: ${expected}`);
}

function elements(what: string, name: string, list: unknown): readonly unknown[] {
  if (Array.isArray(list)) return list;
  throw new TypeError(`${what}: ${name} is ${shownType(list)}: expected a list`);
}

/** Whether a value names a resource. */
export function isRight(value: unknown): value is { readonly group: string; readonly resource: string } {
  if (typeof value !== 'object' || value === null) return false;
  return typeof Reflect.get(value, 'group') === 'string' && typeof Reflect.get(value, 'resource') === 'string';
}

function isNames(need: object, field: string): boolean {
  const value: unknown = Reflect.get(need, field);
  return value === undefined || (Array.isArray(value) && value.every((name) => typeof name === 'string'));
}

function isVerbs(value: unknown): boolean {
  return Array.isArray(value) && value.every((verb) => typeof verb === 'string');
}
