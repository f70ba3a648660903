// Lets plain Node run the workspace's TypeScript: Node strips the types itself; this resolves `./x.js` to `./x.ts`.
// Published code is lowered by the build. Sources are not, and the oldest supported Node does not parse `using`: there,
// the compiler lowers them as they are loaded.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  resolve(specifier, context, next) {
    const isRelative = specifier.startsWith('./') || specifier.startsWith('../');
    const fromSource = context.parentURL?.endsWith('.ts') ?? false;
    if (isRelative && fromSource && specifier.endsWith('.js')) {
      try {
        return next(specifier.replace(/\.js$/, '.ts'), context);
      } catch {
        return next(specifier, context);
      }
    }
    return next(specifier, context);
  },
});

if (!parsesUsing())
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || !/\.m?ts$/.test(url)) return next(url, context);
      const text = readFileSync(fileURLToPath(url), 'utf8');
      if (!/\busing\b/.test(text)) return next(url, context);
      return { format: 'module', source: lowered(text), shortCircuit: true };
    },
  });

/** Kept by content: loading the compiler takes longer than most programs run. @param {string} text */
function lowered(text) {
  const cache = new URL('../.cache/lowered/', import.meta.url);
  const file = new URL(`${createHash('sha256').update(text).digest('hex')}.js`, cache);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const { ModuleKind, ScriptTarget, transpileModule } = createRequire(import.meta.url)('typescript');
  const { outputText } = transpileModule(text, {
    compilerOptions: { target: ScriptTarget.ES2023, module: ModuleKind.ESNext, verbatimModuleSyntax: true },
  });
  mkdirSync(cache, { recursive: true });
  const own = new URL(`${process.pid}-${Math.random()}.tmp`, cache);
  writeFileSync(own, outputText);
  renameSync(own, file); // several processes may lower the same file: none reads half of it
  return outputText;
}

function parsesUsing() {
  try {
    new Function('{ using nothing = null }');
    return true;
  } catch {
    return false;
  }
}
