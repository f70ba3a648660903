/** One line of what a metrics endpoint answers. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of the Prometheus exposition format, version 0.0.4; other lines are left out. */
export function parseSamples(text: string): readonly MetricSample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] =
      /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? +([+-]?(?:Inf|[\d.eE+-]+)|NaN)(?:\s|$)/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    return [{ name, labels: labelsOf(labels), value: numberOf(value) }];
  });
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g)];
  return Object.fromEntries(
    pairs.map(([, name = '', value = '']) => [
      name,
      value.replace(/\\(.)/g, (_whole, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    ]),
  );
}

function numberOf(text: string): number {
  if (text === '+Inf') return Infinity;
  return text === '-Inf' ? -Infinity : Number(text);
}
