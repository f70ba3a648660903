/** Markers of a PEM block, each on a separate line. */
const marker = /^-----(BEGIN|END) ([A-Z0-9 ]+)-----[ \t\r]*$/;

/**
 * The reason why a bundle of certificates in PEM cannot be used whole, as the end of a sentence; undefined if it can.
 * TLS of Node reads one up to the first certificate that is broken, or joined to the next one without a line break, and
 * reports nothing, so the peers of the others would be refused.
 */
export function certificateBundleProblem(bundle: string | Uint8Array): string | undefined {
  const text = typeof bundle === 'string' ? bundle : Buffer.from(bundle).toString('latin1');
  let count = 0;
  let open: { readonly label: string; readonly lines: string[] } | undefined;
  const problem = (what: string): string => `holds a certificate, number ${count + 1}, that cannot be read${what}`;
  for (const line of text.replace(/^(?:\uFEFF|\u00EF\u00BB\u00BF)/, '').split('\n')) {
    const [, side, label = ''] = marker.exec(line) ?? [];
    if (side === 'BEGIN') {
      if (open !== undefined) return problem(': it has no end');
      open = { label, lines: [line] };
    } else if (side === 'END') {
      if (open?.label !== label) return problem(': it has no beginning');
      if (label.endsWith('CERTIFICATE')) {
        if (!isCertificate(`${[...open.lines, line].join('\n')}\n`)) return problem('');
        count++;
      }
      open = undefined;
    } else if (/-----(?:BEGIN|END) /.test(line))
      return problem(': "-----BEGIN …-----" and "-----END …-----" need a line each');
    else open?.lines.push(line);
  }
  if (open !== undefined) return problem(': it has no end');
  return count === 0 ? 'holds no PEM certificate' : undefined;
}

function isCertificate(pem: string): boolean {
  try {
    const { X509Certificate } = process.getBuiltinModule('node:crypto');
    return new X509Certificate(pem).serialNumber !== '';
  } catch {
    return false;
  }
}
