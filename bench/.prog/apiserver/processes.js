// CPU time and memory of other processes, from /proc.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const pageBytes = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));

/** CPU time of all threads so far, in ms; in steps of 10 ms on most machines. */
export function cpuMsOf(pids                   )         {
  let ticks = 0;
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks * 1000) / ticksPerSecond;
}

/** Resident memory of all together, in MB. */
export function residentMbOf(pids                   )         {
  let pages = 0;
  for (const pid of pids) pages += Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return (pages * pageBytes) / 2 ** 20;
}
