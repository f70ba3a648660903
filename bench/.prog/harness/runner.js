import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
                                                                                  
                                           
import { machineNow, median, rounded, writeResults } from './results.js';

const execute = promisify(execFile);

/** One line of the table. `ratio` > 1 always means that ours is better. */
                      
                          
                        
                        
                        
                            
                         
                                
                              
 

                                
                                                               
                          
                                       
 

/**
 * Runs all measurements of a benchmark, each in a fresh process, in rounds that alternate between the subjects, so
 * that a disturbance of the machine meets all of them. Writes `results/<name>.json` and returns the rows.
 */
export async function runBenchmark(name        , benchmark           , options               )                 {
  const { rounds, say } = options;
  const machine = machineNow();
  const commands = new Map                           ();
  const versions                         = { node: process.versions.node, v8: process.versions.v8 };
  for (const subject of benchmark.subjects) {
    const prepared = await subject.prepare();
    if ('skipped' in prepared) {
      versions[subject.name] = `skipped: ${prepared.skipped}`;
      say(`${subject.name}: skipped, ${prepared.skipped}`);
    } else {
      versions[subject.name] = prepared.version;
      commands.set(subject.name, prepared.command);
    }
  }
  const measurementsOf = (figure                      )                =>
    'peer' in figure ? [figure.ours, figure.peer] : [figure.ours];
  const figures = benchmark.figures.filter((figure) =>
    measurementsOf(figure).every(({ subject }) => commands.has(subject)),
  );
  const samples = new Map                  (figures.flatMap(measurementsOf).map((one) => [idOf(one), []]));
  const byId = new Map(figures.flatMap(measurementsOf).map((one) => [idOf(one), one]));
  const valueOf = (measurement             , figure                      )         =>
    median((samples.get(idOf(measurement)) ?? []).map(figure.reading.of));
  const rowOf = (figure                      )      => {
    const ours = valueOf(figure.ours, figure);
    const peer = 'peer' in figure ? valueOf(figure.peer, figure) : figure.limit;
    const ratio = figure.reading.better === 'more' ? ours / peer : peer / ours;
    return {
      figure: figure.figure,
      unit: figure.reading.unit,
      ours: rounded(ours),
      peer: rounded(peer),
      peerName: 'peer' in figure ? figure.peer.subject : 'limit',
      ratio: rounded(ratio),
      reach: figure.reach,
      aim: figure.aim,
    };
  };
  let rows        = [];
  for (let round = 1; round <= rounds; round++) {
    for (const [id, measurement] of byId) {
      const sample = await measure(commands.get(measurement.subject) ?? [], measurement.args);
      samples.get(id)?.push(sample);
    }
    // An earlier checkout may not have what a figure measures.
    rows = figures.map(rowOf).filter(({ figure, peer, peerName }) => {
      if (Number.isNaN(peer) && round === 1) say(`${figure}: not measured by ${peerName}`);
      return !Number.isNaN(peer);
    });
    writeResults(name, { machine: { ...machine, rounds: round }, versions, rows });
    say(`${name}: round ${round} of ${rounds} done`);
  }
  return rows;
}

/** The rows as a table for people. */
export function formatTable(rows                )         {
  const header = ['figure', 'unit', 'ours', 'peer', 'peer is', 'ratio', 'reach', 'aim', ''];
  const cells = rows.map((row) => [
    row.figure,
    row.unit,
    row.ours.toLocaleString('en-US'),
    row.peer.toLocaleString('en-US'),
    row.peerName,
    row.ratio.toFixed(2),
    row.reach?.toString() ?? '',
    row.aim?.toString() ?? '',
    verdict(row),
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const isText = (column        )          => [0, 1, 4, 8].includes(column);
  return [header, widths.map((width) => '-'.repeat(width)), ...cells]
    .map((line) =>
      line
        .map((cell, column) => (isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function verdict({ ratio, reach, aim }     )         {
  if (reach === null) return '';
  if (ratio < reach) return 'UNDER';
  return aim !== null && ratio >= aim ? 'aim reached' : 'reached';
}

async function measure(command                   , args                   )                  {
  const [program = '', ...fixedArgs] = command;
  try {
    const { stdout } = await execute(program, [...fixedArgs, ...args], { timeout: 900_000 });
    const line = stdout.trim().split('\n').at(-1) ?? '';
    return JSON.parse(line)          ;
  } catch (cause) {
    throw new Error(`${[...command, ...args].join(' ')} gave no sample`, { cause });
  }
}

function idOf({ subject, args }             )         {
  return [subject, ...args].join(' ');
}
