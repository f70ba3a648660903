import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilePrograms } from '../harness/programs.js';
import { machineNow, median, rounded, writeResults } from '../harness/results.js';
                                                          
                                                      
import { axes } from './axes.js';
import { exponentOf, growthRow, isDefect } from './exponents.js';
import { measurePoint } from './measure-point.js';
                                               
import { growthPicture } from './picture.js';
                                      

const root = join(import.meta.dirname, '..', '..', '..');
const picture = join(root, 'docs', 'public', 'pictures', 'growth.svg');
const mostObjects = Number(process.env['KCTL_BENCH_OBJECTS'] ?? Infinity);

/** A round takes about four minutes. */
export const defaultRounds = 3;

/**
 * Measures all points, each in a process of its own; a point on several axes is measured once. Writes the curves with their
 * exponents to `results/growth.json`, and as a picture for the documentation. @returns whether nothing grows more than the work
 */
export async function run({ rounds, say }               )                   {
  const machine = machineNow();
  const programs = compilePrograms(root);
  const points = new Map                                                               ();
  for (const { sizes } of axes)
    for (const size of sizes) if (size.objects <= mostObjects) points.set(JSON.stringify(size), { size, measured: [] });
  let drawn                        = [];
  for (let round = 1; round <= rounds; round++) {
    for (const [text, { size, measured }] of points) {
      const figures = await measurePoint(size, programs);
      measured.push(figures);
      say(`growth: ${text} ${JSON.stringify(figures)}`);
    }
    drawn = axes.flatMap((axis) => axis.curves.map((curve) => curveOf(axis, curve, points)));
    writeResults('growth', {
      machine: { ...machine, rounds: round },
      versions: { node: process.versions.node, v8: process.versions.v8 },
      rows: drawn.flatMap(({ axis, curve, exponent }) => growthRow(`${axis.name} (${axis.of})`, curve, exponent)),
      curves: drawn.map(({ axis, curve, points: measured, exponent }) => ({
        axis: `${axis.name}, ${axis.of}`,
        figure: curve.title,
        unit: curve.unit,
        points: measured.map(({ at, value }) => ({ at, value: rounded(value / curve.scale) })),
        exponent: exponent === null ? null : rounded(exponent),
        inherent: curve.inherent,
        isDefect: isDefect(curve, exponent),
      })),
    });
    mkdirSync(join(picture, '..'), { recursive: true });
    writeFileSync(picture, growthPicture(drawn));
    say(`growth: round ${round} of ${rounds} done`);
  }
  const defects = drawn.filter(({ curve, exponent }) => isDefect(curve, exponent));
  for (const { axis, curve, exponent } of defects)
    say(
      `growth: ${curve.title} grows with the power ${exponent?.toFixed(2)} of ${axis.name}, the work with ${curve.inherent}`,
    );
  return defects.length === 0;
}

function curveOf(
  axis      ,
  curve       ,
  points                                                                ,
)             {
  const measured = axis.sizes.flatMap((size) => {
    const found = points.get(JSON.stringify(size))?.measured ?? [];
    return found.length === 0
      ? []
      : [{ at: size[axis.name], value: median(found.map((figures) => figures[curve.figure])) }];
  });
  return { axis, curve, points: measured, exponent: exponentOf(curve, measured) };
}
