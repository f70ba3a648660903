import { createInterface } from 'node:readline/promises';
import { formatStep, type Step } from '@kctl/simulation';

const help = `Enter: the next 20 steps; a number: so many; f: up to the next fault; r: up to the broken rule;
/text: up to the next step with the text; only text: show no others ("only" alone: all); q: end`;

/** Shows the steps of a run one after the other: on a terminal as they are asked for, otherwise all of them. */
export async function stepThrough(steps: readonly Step[]): Promise<void> {
  if (!process.stdin.isTTY) {
    for (const step of steps) console.log(formatStep(step));
    return;
  }
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  let only = '';
  let place = 0;
  const show = (isLast: (step: Step, shown: number) => boolean): void => {
    for (let shown = 0; place < steps.length; ) {
      const step = steps[place++];
      if (step === undefined || !formatStep(step).includes(only)) continue;
      console.log(formatStep(step));
      if (isLast(step, ++shown)) return;
    }
  };
  console.log(`${steps.length} steps. ${help}`);
  while (place < steps.length) {
    const command = (await terminal.question(`${place}/${steps.length}> `)).trim();
    if (command === 'q') return;
    if (command === 'f' || command === 'r') show(({ who }) => who === (command === 'f' ? 'fault' : 'rule'));
    else if (command.startsWith('/')) show((step) => formatStep(step).includes(command.slice(1)));
    else if (command === 'only' || command.startsWith('only ')) only = command.slice(5);
    else if (command === '' || Number(command) > 0) show((_step, shown) => shown >= (Number(command) || 20));
    else console.log(help);
  }
}
