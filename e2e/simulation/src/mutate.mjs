// Puts a defect into a source while it is loaded: KCTL_DEFECT='{"file":"packages/x/src/y.ts","from":"…","to":"…"}'.
import { registerHooks } from 'node:module';

const { file, from, to } = JSON.parse(process.env.KCTL_DEFECT ?? '{}');

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(file)) return loaded;
    const source = String(loaded.source);
    if (!source.includes(from)) throw new Error(`${file} does not contain ${JSON.stringify(from)}`);
    process.env.KCTL_DEFECT_APPLIED = '1';
    return { ...loaded, source: source.replace(from, to) };
  },
});
