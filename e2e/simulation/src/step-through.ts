import { createInterface } from 'node:readline/promises';
import { formatStep, type Step } from '@kctl/simulation';

const help = `Enter: the next 20 steps; a number: so many; f: up to the next fault; r: up to the broken rule;
/text: up to the next step with the text; only text: show no others ("only" alone: all); q: end`;

/** A terminal, or what stands for one. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/** Shows the steps of a run one after the other: on a terminal as they are asked for, otherwise all of them. */
export async function stepThrough(
  steps: readonly Step[],
  { input, output }: Terminal = { input: process.stdin, output: process.stdout },
): Promise<void> {
  const write = (line: string): void => void output.write(`${line}\n`);
  if (input.isTTY !== true) {
    for (const step of steps) write(formatStep(step));
    return;
  }
  using terminal = createInterface({ input, output, terminal: true });
  // Ctrl+D ends the input: a question is then never answered.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('q')));
  let only = '';
  let place = 0;
  const show = (isLast: (step: Step, shown: number) => boolean): void => {
    for (let shown = 0; place < steps.length; ) {
      const step = steps[place++];
      if (step === undefined || !formatStep(step).includes(only)) continue;
      write(formatStep(step));
      if (isLast(step, ++shown)) return;
    }
  };
  write(`${steps.length} steps. ${help}`);
  while (place < steps.length) {
    const command = (await Promise.race([terminal.question(`${place}/${steps.length}> `), closed])).trim();
    if (command === 'q') return;
    if (command === 'f' || command === 'r') show(({ who }) => who === (command === 'f' ? 'fault' : 'rule'));
    else if (command.startsWith('/')) show((step) => formatStep(step).includes(command.slice(1)));
    else if (command === 'only' || command.startsWith('only ')) only = command.slice(5);
    else if (command === '' || Number(command) > 0) show((_step, shown) => shown >= (Number(command) || 20));
    else write(help);
  }
}
