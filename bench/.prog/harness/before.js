// The same measurements of two checkouts of this workspace in one run: what did a change cost?
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
                                                                              
import { compilePrograms } from './programs.js';

const root = join(import.meta.dirname, '..', '..', '..');

/**
 * A benchmark that compares what it calls ours with the same programs of another checkout.
 *
 * @param directory - root of the other checkout; it has to be built
 */
export function beside(benchmark           , directory        )            {
  const other = resolve(directory);
  if (!existsSync(join(other, 'bench', 'src'))) throw new Error(`${other} is not a checkout of this workspace`);
  const revision = (checkout        )         =>
    execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: checkout, encoding: 'utf8' }).trim();
  const before = (name        )         => `${name} at ${revision(other)}`;
  const measured = new Set(benchmark.figures.map(({ ours }) => ours.subject));
  const subjects = benchmark.subjects.filter(({ name }) => measured.has(name));
  const earlier = (subject         )          => ({
    name: before(subject.name),
    prepare: async () => {
      const prepared = await subject.prepare();
      if ('skipped' in prepared) return prepared;
      compilePrograms(other);
      const programs = join(root, 'bench');
      const command = prepared.command.map((part) =>
        part.startsWith(programs) || part.startsWith(join(root, 'scripts')) ? part.replace(root, other) : part,
      );
      const missing = command.find((part) => part.startsWith(join(other, 'bench')) && !existsSync(part));
      // A program that was written since.
      if (missing !== undefined) return { skipped: `${revision(other)} has no ${basename(missing)}` };
      return { command, version: revision(other) };
    },
  });
  const figures = new Map                ();
  for (const { figure, ours, reading } of benchmark.figures) {
    const peer              = { subject: before(ours.subject), args: ours.args };
    const id = [ours.subject, ...ours.args, figure, reading.unit].join(' ');
    figures.set(id, { figure: `${figure} (${ours.subject})`, ours, peer, reading, reach: null, aim: 1 });
  }
  return { subjects: [...subjects, ...subjects.map(earlier)], figures: [...figures.values()] };
}
