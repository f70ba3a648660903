import { requireOptionsObject } from '@kctl/client/internal';
import { requireNoSimilarName, shownType } from '@kctl/options';

/** @throws TypeError naming a value that is not a function, which only the first request would find */
export function requireFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${what} is ${shownType(value)}: expected a function`);
}

const members = ['validateCreate', 'validateUpdate', 'validateDelete'] as const;

/**
 * An object without members allows everything, according to its type; so would one whose members have other names,
 * which is a mistake.
 *
 * @throws TypeError for a value that is not a validator
 */
export function requireValidator(what: string, validator: unknown): void {
  requireOptionsObject(what, validator, 'validateCreate, validateUpdate or validateDelete');
  const given = Object(validator) as object;
  const present = members.filter((member) => Reflect.get(given, member) !== undefined);
  for (const member of present) requireFunction(`${what}: ${member}`, Reflect.get(given, member));
  const others = Object.keys(given);
  const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(given) as object | null);
  if (present.length === 0 && !(isPlain && others.length === 0))
    throw new TypeError(
      `${what} has none of ${members.join(', ')}${others.length === 0 ? '' : `, but ${others.join(', ')}`}: it would allow everything`,
    );
  requireNoSimilarName(what, given, members, 'the validator');
}
