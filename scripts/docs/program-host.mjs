// Runs programs of the documentation one after the other in this process and sends what each prints: modules that all of
// them load are compiled once. A program that leaves something behind keeps this process alive, which counts for all.
import { pathToFileURL } from 'node:url';
import { format, stripVTControlCharacters } from 'node:util';

const files = process.argv.slice(2);
for (const file of files) {
  let output = '';
  const note = (/** @type {unknown[]} */ ...values) => {
    output += stripVTControlCharacters(`${format(...values)}\n`);
  };
  Object.assign(console, { log: note, info: note, warn: note, error: note });
  let code = 0;
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    note(error);
    code = 1;
  }
  process.send?.({ file, code, output });
}
process.disconnect?.();
