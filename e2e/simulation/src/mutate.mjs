// Puts a defect into sources while they are loaded: KCTL_DEFECT='[{"file":"packages/x/src/y.ts","from":"…","to":"…"}]'.
import { registerHooks } from 'node:module';

/** @type {readonly { file: string, from: string, to: string }[]} */
const edits = JSON.parse(process.env.KCTL_DEFECT ?? '[]');

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const own = edits.filter(({ file }) => url.endsWith(file));
    if (own.length === 0) return loaded;
    let source = String(loaded.source);
    for (const { file, from, to } of own) {
      if (!source.includes(from)) throw new Error(`${file} does not contain ${JSON.stringify(from)}`);
      source = source.replace(from, () => to);
    }
    process.env.KCTL_DEFECT_APPLIED = '1';
    return { ...loaded, source };
  },
});
