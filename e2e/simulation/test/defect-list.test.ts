import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { defects } from '../src/defect-list.mjs';

/** What a parser says of a module; undefined where it reads it. Nothing of it is run: its imports are not found. */
async function syntaxErrorOf(source: string): Promise<string | undefined> {
  const code = `import 'kctl:not-there';\n${stripTypeScriptTypes(source)}`;
  const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
  const error: unknown = await import(/* @vite-ignore */ url).catch((reason: unknown) => reason);
  return error instanceof Error && error.name === 'SyntaxError' ? error.message : undefined;
}

it.each(defects)('can be put back: $defect', async ({ edits }) => {
  const sources = new Map<string, string>();
  for (const { file, from, to } of edits) {
    const source = sources.get(file) ?? readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(source, file).toContain(from);
    sources.set(
      file,
      source.replace(from, () => to),
    );
  }
  for (const [file, source] of sources) expect(await syntaxErrorOf(source), file).toBeUndefined();
});
