// Builds the images of the documentation without a container engine: each stage is a folder, its instructions are executed
// there, and what CMD names is run by Node.
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { must } from './workspace.mjs';

/** @typedef {{ stage: string, command: string, text: string }} Instruction */

/** @param {string} dockerfile @returns {Instruction[]} the instructions of each stage; the last one has no name */
export function commandsOfImage(dockerfile) {
  let stage = '';
  return dockerfile
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => {
      const [, command = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (command !== 'FROM') return [{ stage, command, text }];
      stage = /\sAS\s+(\S+)/i.exec(text)?.[1] ?? '';
      return [];
    });
}

/**
 * @param {string} dockerfile
 * @param {{ context: string, folder: string, env: Record<string, string | undefined> }} options where `COPY` copies from,
 *   where stages are made, and with what `RUN` runs
 * @returns {Promise<{ args: string[], cwd: string, env: Record<string, string>, user: string }>} how the image starts
 */
export async function buildImage(dockerfile, { context, folder, env }) {
  /** @type {Map<string, { workdir: string, env: Record<string, string>, entry: string[], args: string[], user: string }>} */
  const stages = new Map();
  const rootOf = (/** @type {string} */ name) => join(folder, `stage-${name}`);
  for (const { stage, command, text } of commandsOfImage(dockerfile)) {
    const state = stages.get(stage) ?? { workdir: '/', env: {}, entry: [], args: [], user: '' };
    stages.set(stage, state);
    const root = rootOf(stage);
    const cwd = join(root, state.workdir);
    mkdirSync(cwd, { recursive: true });
    if (command === 'WORKDIR') {
      state.workdir = resolve(state.workdir, text);
      mkdirSync(join(root, state.workdir), { recursive: true });
    } else if (command === 'COPY') {
      const words = text.split(/\s+/);
      const from = /^--from=(.+)$/.exec(words[0] ?? '')?.[1];
      const [target = '', ...sources] = words.slice(from === undefined ? 0 : 1).reverse();
      for (const source of sources) {
        const origin = join(from === undefined ? context : rootOf(from), source);
        const place = join(root, resolve(state.workdir, target));
        const isFolder = target.endsWith('/') || target === '.';
        mkdirSync(isFolder ? place : dirname(place), { recursive: true });
        cpSync(origin, isFolder && source !== '.' ? join(place, source.split('/').at(-1) ?? '') : place, {
          recursive: true,
        });
      }
    } else if (command === 'RUN') await must('bash', ['-c', text], { cwd, env: { ...env, ...state.env } });
    else if (command === 'ENV') {
      const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(text) ?? [];
      state.env[name] = value;
    } else if (command === 'CMD') state.args = JSON.parse(text);
    else if (command === 'ENTRYPOINT') state.entry = JSON.parse(text);
    else if (command === 'USER') state.user = text;
    else throw new Error(`${command} ${text}: this check does not know the instruction: add it to dockerfile.mjs`);
  }
  const last = stages.get('');
  if (last === undefined) throw new Error('the last stage of the Dockerfile has a name: this check starts one without');
  const root = rootOf('');
  const args = [...last.entry, ...last.args].map((word) =>
    word.startsWith('/') && existsSync(join(root, word)) ? join(root, word) : word,
  );
  return { args, cwd: join(root, last.workdir), env: last.env, user: last.user };
}
