import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { metadataOnly } from '@kctl/apimachinery';
import { dependents, DependentsDefinitionError } from '@kctl/dependents';
import { describe, expect, it } from 'vitest';
import { WebApp } from './web-app.js';

const desired = () => ({});

/** The problems of a definition, made as plain JavaScript would. */
function problemsOf(define: (start: Loose) => Loose, options: unknown = { fieldOwner: 'x' }): readonly string[] {
  try {
    void define(start(options)).kinds;
  } catch (error) {
    if (error instanceof DependentsDefinitionError) return error.problems;
    throw error;
  }
  return [];
}

function start(options: unknown): Loose {
  const made: unknown = dependents(WebApp, options as never);
  return made as Loose;
}

interface Loose {
  readonly kinds: unknown;
  ref(...given: unknown[]): Loose;
  child(...given: unknown[]): Loose;
  set(...given: unknown[]): Loose;
}

describe('a definition', () => {
  it('names all mistakes at once', () => {
    expect(
      problemsOf((start) =>
        start
          .child('Config', ConfigMap, { desired })
          .child('web', ConfigMap, { desired, needs: ['config'], gates: 'always' })
          .child('web', ConfigMap, {})
          .set('routes', metadataOnly(ConfigMap), { desired, onImmutable: { recreate: 'now' } }),
      ),
    ).toEqual([
      'child("Config"): the name is not valid: expected at most 40 lower-case letters, digits and "-"',
      'child("web"): unknown option "gates": did you mean "gate"?',
      'child("web"): needs "config", which is not declared before it',
      'child("web"): the name is there twice',
      'child("web"): desired is not set: expected a function',
      'set("routes"): the kind is the metadata form: expected the whole one',
      'set("routes"): onImmutable of type object is not valid: expected "fail" or { recreate: "background" | "foreground" | "orphanPods" }',
      'set("routes"): each is not set: expected a function',
    ]);
  });

  it.each([
    [null, 'options are not set: expected { fieldOwner }'],
    [{}, 'fieldOwner is not set: expected the name of a field owner, such as "webapp.example.com"'],
    [{ fieldOwner: 'x', concurency: 2 }, 'unknown option "concurency": did you mean "concurrency"?'],
    [{ fieldOwner: 'x', concurrency: 0 }, 'concurrency 0 is not valid: expected an integer ≥ 1'],
  ])('refuses the options %o', (options, problem) => {
    expect(problemsOf((start) => start, options)).toEqual([problem]);
  });

  it('may be extended twice', () => {
    const base = dependents(WebApp, { fieldOwner: 'x' }).child('a', ConfigMap, { desired });
    expect(base.child('b', ConfigMap, { desired }).kinds.map(({ node }) => node)).toEqual(['a', 'b']);
    expect(base.child('c', ConfigMap, { desired }).kinds.map(({ node }) => node)).toEqual(['a', 'c']);
    expect(base.kinds.map(({ node }) => node)).toEqual(['a']);
  });
});
