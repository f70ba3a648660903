/** Suites of commands: the terminal must show what it showed with a real server, command by command. */
import { readFile, writeFile } from 'node:fs/promises';
import type { Group, SuiteResult, TargetName } from '../result.js';
import { startPeer, type Peer } from '../server.js';
import { commandsOf, type Shown } from '../transcript.js';

export interface TranscriptSuite {
  readonly suite: string;
  /** Of the program. */
  readonly version: string;
  /** Runs all commands, and returns what the terminal showed. */
  readonly play: (peer: Peer) => Promise<string>;
}

const recordingOf = (suite: string): URL => new URL(`../../transcripts/${suite}.txt`, import.meta.url);

export function readRecording(suite: string): Promise<string> {
  return readFile(recordingOf(suite), 'utf8');
}

/** The first line that differs, as both show it. */
function firstDifference(expected: string, shown: string): string {
  const [wanted, got] = [expected.split('\n'), shown.split('\n')];
  const at = wanted.findIndex((line, index) => line !== got[index]);
  const [left, right] = at < 0 ? ['', got[wanted.length]] : [wanted[at], got[at]];
  return `real ${JSON.stringify(left)}, here ${JSON.stringify(right ?? '')}`.slice(0, 300);
}

/** Commands that show something else than was recorded. */
export function differencesOf(wanted: readonly Shown[], shown: readonly Shown[]): Group['failed'] {
  return wanted.flatMap(({ command, shown: expected }, index) => {
    const got = shown[index];
    if (got?.command === command && got.shown === expected) return [];
    const text = got === undefined ? '' : got.shown;
    console.log(`FAIL ${command}\n--- real\n${expected}\n--- here\n${text}`);
    return [{ name: command, cause: firstDifference(expected, text) }];
  });
}

/** With `isRecording` what the terminal shows is kept as what it must show; the target has to be the real one. */
export async function runTranscript(
  { suite, version, play }: TranscriptSuite,
  target: TargetName,
  isRecording: boolean,
): Promise<SuiteResult> {
  if (isRecording && target !== 'real') throw new Error('--record needs --target real: the recording is the truth');
  await using peer = await startPeer(target);
  const started = performance.now();
  const text = await play(peer);
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  if (isRecording) await writeFile(recordingOf(suite), text);
  const wanted = commandsOf(await readRecording(suite));
  const failed = differencesOf(wanted, commandsOf(text));
  return {
    suite,
    target,
    version,
    groups: [{ name: 'commands', passed: wanted.length - failed.length, failed, skipped: 0, seconds }],
  };
}
