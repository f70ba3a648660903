// Lets plain Node run the workspace's TypeScript: Node strips the types itself; this resolves `./x.js` to `./x.ts`.
// Published code is lowered by the build. Sources are not, and the oldest supported Node does not parse `using`: there,
// the compiler lowers them as they are loaded.
import { createRequire, registerHooks } from 'node:module';
import { readFileSync } from 'node:fs';
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

if (!parsesUsing()) {
  const typescript = createRequire(import.meta.url)('typescript');
  const { ES2023: target } = typescript.ScriptTarget;
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith('file:') || !/\.m?ts$/.test(url)) return next(url, context);
      const fileName = fileURLToPath(url);
      const text = readFileSync(fileName, 'utf8');
      if (!/\busing\b/.test(text)) return next(url, context);
      const { outputText: source } = typescript.transpileModule(text, {
        fileName,
        compilerOptions: { target, module: typescript.ModuleKind.ESNext, verbatimModuleSyntax: true },
      });
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

function parsesUsing() {
  try {
    new Function('{ using nothing = null }');
    return true;
  } catch {
    return false;
  }
}
