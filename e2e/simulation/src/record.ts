/** What came of the seeds of one operator. */
export interface OperatorRecord {
  readonly seeds: number[];
  hours: number;
  faults: number;
  readonly violations: { readonly seed: number; readonly rule: string }[];
}

/** A table of what was simulated, in Markdown. */
export function formatRecord(records: ReadonlyMap<string, OperatorRecord>, cpuSeconds: number): string {
  const all = [...records.values()];
  const hours = all.reduce((sum, record) => sum + record.hours, 0);
  const faults = all.reduce((sum, record) => sum + record.faults, 0);
  const violations = all.reduce((sum, record) => sum + record.violations.length, 0);
  const rows = [...records].map(([name, record]) => {
    const range = record.seeds.length === 0 ? '' : `${Math.min(...record.seeds)} to ${Math.max(...record.seeds)}`;
    const found = record.violations.map(({ seed, rule }) => `${rule} (seed ${seed})`).join(', ') || 'none';
    return `| ${name} | ${range} | ${record.hours.toFixed(1)} | ${record.faults} | ${found} |`;
  });
  return [
    '| operator | seeds | hours | faults | violations |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    `${hours.toFixed(1)} simulated hours, ${faults} faults, ${violations} violations, ${cpuSeconds.toFixed(0)} s of CPU`,
  ].join('\n');
}
