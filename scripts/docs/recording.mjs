// The recording of the first minutes on the landing page and at the top of the README: docs/public/recording.svg, drawn from
// the transcript that scripts/transcript.mjs records. Without arguments it writes, with `--check` it fails where it is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const transcript = join('e2e', 'packages', 'results', 'transcript.txt');
const picture = join('docs', 'public', 'recording.svg');

/** The commands that are shown, and which lines of their output. */
const shown = [
  { command: 'npm create @kctl@latest my-operator', lines: [/^wrote \d+ files/] },
  { command: 'npm test', lines: [/^✔ /, /^ℹ (?:pass|fail)/] },
  {
    command: 'npm run dev',
    lines: [/^API server at/, /^established /, /^inspection at/, /^applied greeting/, /result=success/, /^restarted: /],
  },
];
const [width, lineHeight, letters] = [860, 20, 100];

/** @param {string} text of the transcript @returns {{ command: boolean, text: string }[]} */
export function recordedLines(text) {
  const blocks = text.split(/^ *[\d.]+ s {2}\$ /m).slice(1);
  return shown.flatMap(({ command, lines }) => {
    const block = blocks.find((each) => each.startsWith(command));
    if (block === undefined) throw new Error(`${transcript} has no command ${JSON.stringify(command)}`);
    const output = block
      .split('\n')
      .slice(1)
      .map((line) => shortened(line.trim()));
    for (const pattern of lines)
      if (!output.some((line) => pattern.test(line)))
        throw new Error(`${transcript}: the output of ${command} has no line for ${String(pattern)}`);
    const kept = output.filter((line) => lines.some((pattern) => pattern.test(line)));
    // Of the log the first run, and the first one after the restart.
    const isRun = (/** @type {string} */ line) => line.includes('result=success');
    const restarted = kept.findIndex((line) => line.startsWith('restarted: '));
    const runs = [kept.findIndex(isRun), kept.findIndex((line, index) => index > restarted && isRun(line))];
    const said = kept.filter((line, index) => !isRun(line) || runs.includes(index));
    return [{ command: true, text: command }, ...said.map((line) => ({ command: false, text: line }))];
  });
}

/** Without the time of day, and within the width. @param {string} line */
function shortened(line) {
  const plain = line
    .replace(/^\d{4}-\S+Z /, '')
    .replace(/ \(\d+\.\d+ms\)$/, '')
    .replace(/; for kubectl: .*/, '')
    .replace(/ reasons="[^"]*"/, '');
  return plain.length > letters ? `${plain.slice(0, letters - 1)}…` : plain;
}

/** @param {string} text */
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Lines appear one after the other; at once for readers who prefer less motion. @param {string} text of the transcript */
export function recording(text) {
  const lines = recordedLines(text);
  const height = 52 + lines.length * lineHeight;
  let at = 0;
  const rows = lines.map(({ command, text: line }, index) => {
    at += command ? 1.4 : 0.35;
    const y = 52 + index * lineHeight;
    const prompt = command ? '<tspan class="prompt">$ </tspan>' : '';
    return `  <text class="line${command ? ' command' : ''}" x="16" y="${y}" style="animation-delay: ${at.toFixed(2)}s">${prompt}${escaped(line)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '  <title>npm create @kctl, npm test and npm run dev in a terminal</title>',
    '  <style>',
    '    .line { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre; animation: appear 0.01s both }',
    '    .command { fill: #ffffff; font-weight: 600 }',
    '    .prompt { fill: #7ee787 }',
    '    @keyframes appear { from { opacity: 0 } to { opacity: 1 } }',
    '    @media (prefers-reduced-motion: reduce) { .line { animation: none } }',
    '  </style>',
    `  <rect width="${width}" height="${height}" rx="10" fill="#161b22"/>`,
    '  <circle cx="20" cy="18" r="5.5" fill="#ff7b72"/><circle cx="38" cy="18" r="5.5" fill="#e3b341"/><circle cx="56" cy="18" r="5.5" fill="#56d364"/>',
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

export function writeRecording() {
  writeFileSync(picture, recording(readFileSync(transcript, 'utf8')));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (!process.argv.includes('--check')) writeRecording();
  else if (readFileSync(picture, 'utf8') !== recording(readFileSync(transcript, 'utf8'))) {
    console.error(`${picture} is stale: run node scripts/docs/recording.mjs`);
    process.exitCode = 1;
  }
}
