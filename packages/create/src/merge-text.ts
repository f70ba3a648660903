import { diff3Merge } from 'node-diff3';

/** A merge of two texts that were made of a third one. */
export interface MergedText {
  readonly text: string;
  /** How many places both have changed, each in its own way: there, both stand in the text, between markers as git's. */
  readonly conflicts: number;
}

/** Merges line by line. Line ends are those of `ours`. */
export function mergeText(base: string, ours: string, theirs: string): MergedText {
  const lineEnd = ours.includes('\r\n') ? '\r\n' : '\n';
  const [a, o, b] = [ours, base, theirs].map((text) => text.replaceAll('\r\n', '\n').split('\n'));
  let conflicts = 0;
  const lines = diff3Merge(a ?? [], o ?? [], b ?? [], { excludeFalseConflicts: true }).flatMap(({ ok, conflict }) => {
    if (conflict === undefined) return ok ?? [];
    conflicts += 1;
    return [marker('<', ' yours'), ...conflict.a, marker('='), ...conflict.b, marker('>', ' kctl')];
  });
  return { text: lines.join(lineEnd), conflicts };
}

/** A line between what two have made of one, as git writes it. */
function marker(sign: string, whose: string = ''): string {
  return sign.repeat(7) + whose;
}
