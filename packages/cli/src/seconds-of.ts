import { InvalidArgumentError } from 'commander';

/** The value of an option in seconds. @throws InvalidArgumentError */
export function secondsOf(value: string): number {
  const seconds = Number(value);
  if (value.trim() === '' || !(seconds > 0)) throw new InvalidArgumentError('expected seconds, above 0');
  return seconds;
}
