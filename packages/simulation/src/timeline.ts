import { hashText } from './random.js';

/** One step of a run. */
export interface Step {
  /** ms since the world began. */
  readonly at: number;
  /** Who: a replica, `server`, `user` or `fault`. */
  readonly who: string;
  /** About which object, `resource namespace/name`; '' for none. */
  readonly object: string;
  readonly what: string;
}

/** How many steps a report can look back on. */
const keptSteps = 4000;

/** Steps in order. Its hash is over all steps, so equal hashes mean equal runs. */
export class Timeline {
  #steps: Step[] = [];
  #hash = 0x811c9dc5;
  #second = 0x9dc5811c;
  /** All steps so far, those that are kept no longer included. */
  count = 0;

  add(step: Step): void {
    this.count++;
    const { at, who, object, what } = step;
    const micros = Math.round(at * 1000);
    this.#hash = hashText(what, hashText(object, hashText(who, this.#hash ^ micros)));
    this.#second = Math.imul(this.#second ^ this.#hash, 0x85ebca6b) + this.count;
    this.#steps.push(step);
    if (this.#steps.length >= 2 * keptSteps) this.#steps = this.#steps.slice(-keptSteps);
  }

  /** 16 hexadecimal digits. */
  get hash(): string {
    return [this.#hash, this.#second >>> 0].map((half) => half.toString(16).padStart(8, '0')).join('');
  }

  steps(): readonly Step[] {
    return this.#steps;
  }

  /** The last steps that concern an object, or all objects if none is given. */
  last(count: number, object?: string): readonly Step[] {
    const about = object === undefined ? this.#steps : this.#steps.filter((step) => isAbout(step, object));
    return about.slice(-count);
  }
}

/** A fault concerns every object. */
function isAbout(step: Step, object: string): boolean {
  return step.object === object || step.object === '' || step.object.endsWith(` ${object.split(' ')[1] ?? object}`);
}

/** A step as a line: `12:03.210  replica-1  Widget demo/a   update status → 200`. */
export function formatStep({ at, who, object, what }: Step): string {
  return `${formatTime(at)}  ${who.padEnd(10)} ${object === '' ? '' : `${object}: `}${what}`;
}

/** `h:mm:ss.mmm` of virtual time. */
export function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${String(Math.floor(ms % 1000)).padStart(3, '0')}`;
}
