import { expect, it } from 'vitest';
import { isSameSource } from './same-source.js';

const generated = `// Generated. Do not edit.
import { defineKind, type Kind, type KubeObject } from '@kctl/apimachinery';

/** It's "one" thing. */
export interface Thing extends KubeObject {
  /**
   * How it works.
   *
   * @default "b"
   */
  mode?: 'a' | "it's" | 'say "b"';
  'odd-name'?: ('x' | 'y')[];
  slash?: 'a\\\\"b"\\\\';
  'é': Record<string, Thing>;
}

export const Thing: Kind<Thing, 'Namespaced'> = /* @__PURE__ */ defineKind<Thing, 'Namespaced'>({
  plural: 'things',
});
`;

const formatted = `// Generated. Do not edit.
import {
    defineKind,
    type Kind,
    type KubeObject,
} from "@kctl/apimachinery"

/** It's "one" thing. */
export interface Thing extends KubeObject {
    /**
     * How it works.
     *
     * @default "b"
     */
    mode?:
        | "a"
        | 'it\\'s'
        | "say \\"b\\""
    "odd-name"?: (
        | "x"
        | "y"
    )[]
    slash?: "a\\\\\\"b\\"\\\\"
    é: Record<
        string,
        Thing
    >
}

export const Thing: Kind<Thing, "Namespaced"> = /* @__PURE__ */ defineKind<
    Thing,
    "Namespaced"
>({ plural: "things" })
`;

it('takes a module that a formatter has gone over for the same', () => {
  expect(isSameSource(generated, formatted)).toBe(true);
  expect(isSameSource(generated, generated.replaceAll('\n', '\r\n'))).toBe(true);
});

it.each([
  ["'a'", "'A'"],
  ['How it works', 'How it worked'],
  ['@default "b"', '@default "c"'],
  ['mode?', 'mode'],
  ["('x' | 'y')[]", "'x' | 'y'[]"],
  ['say "b"', "say 'b'"],
  ['Record<string, Thing>', 'Record<string, Thing>[]'],
  ["'things'", "'thing s'"],
  ["'odd-name'", "'odd_name'"],
  ["plural: 'things'", 'plural: things'],
])('takes %s for another than %s', (from, to) => {
  expect(formatted).not.toBe(generated);
  expect(
    isSameSource(
      generated.replace(from, () => to),
      formatted,
    ),
  ).toBe(false);
});
