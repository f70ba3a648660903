// Lets plain Node run the workspace's TypeScript: Node strips the types itself; this resolves `./x.js` to `./x.ts`.
import { registerHooks } from 'node:module';

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
