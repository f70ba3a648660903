// The programs of other runtimes and module systems, as their users would write them.

/** @typedef {{ name: string, title: string, tool?: string, node?: string, installs: string[], files: Record<string, string>, commands: string[][], cannot?: string[] }} Consumer */

const inputs = `const server = JSON.parse(process.env.KCTL_SERVER);
const entries = JSON.parse(process.env.KCTL_ENTRIES);
`;

const esModule = `import { exercise } from './exercise.mjs';
${inputs}await exercise((name) => import(name), entries, server, (line) => console.log(line));
process.exit(0);
`;

const jestTest = `const { exercise } = require('./exercise.mjs');
${inputs}
test('every package', async () => {
  const lines = [];
  await exercise((name) => require(name), entries, server, (line) => lines.push(line));
  process.stderr.write(lines.join('\\n') + '\\n');
}, 60_000);
`;

const nestProgram = `import 'reflect-metadata';
import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createRateLimitingQueue, type RateLimitingQueue } from '@kctl/workqueue';
import { isNotFound } from '@kctl/apimachinery';

const { exercise } = require('../exercise.mjs');

@Injectable()
class Work implements OnApplicationShutdown {
  readonly queue: RateLimitingQueue<string> = createRateLimitingQueue<string>();
  async onApplicationShutdown(): Promise<void> {
    await this.queue.shutDownWithDrain();
  }
}

@Module({ providers: [Work] })
class App {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  const work = app.get(Work);
  work.queue.run({ concurrency: 1 }, async (key) => console.log('nest', key, isNotFound(new Error(key))));
  work.queue.add('started');
  await app.close();
  const entries: string[] = JSON.parse(process.env['KCTL_ENTRIES'] ?? '[]');
  const server: unknown = JSON.parse(process.env['KCTL_SERVER'] ?? '{}');
  await exercise((name: string) => require(name), entries, server, (line: string) => console.log(line));
  process.exit(0);
}
void main();
`;

const nestConfig = JSON.stringify({
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    module: 'node20',
    strict: true,
    skipLibCheck: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    outDir: 'dist',
    types: ['node'],
  },
  include: ['src'],
});

/** @type {Consumer[]} */
export const consumers = [
  ...['22.19.0', '24'].map((node) => ({
    name: `node-${node.split('.')[0]}`,
    title: `Node ${node}, ES modules`,
    node,
    installs: [],
    files: { 'package.json': '{"private":true,"type":"module"}', 'main.mjs': esModule },
    commands: [['node', 'main.mjs']],
  })),
  {
    name: 'jest',
    title: 'Jest, CommonJS',
    tool: 'jest',
    installs: ['jest', '@swc/jest', '@swc/core'],
    files: {
      'package.json': JSON.stringify({ private: true, type: 'commonjs' }),
      'jest.config.js': `module.exports = {
  testEnvironment: 'node',
  transform: { '\\\\.[cm]?js$': ['@swc/jest', { module: { type: 'commonjs' } }] },
  transformIgnorePatterns: ['/node_modules/(?!(@kctl|re2js|commander|@clack|sisteransi|fast-string-width|fast-wrap-ansi|fast-string-truncated-width)/)'],
};
`,
      'packages.test.js': jestTest,
    },
    commands: [['jest', '--ci', '--forceExit']],
  },
  {
    name: 'nest',
    title: 'NestJS, CommonJS',
    tool: '@nestjs/core',
    installs: ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs', 'typescript@5.9.3', '@types/node@24'],
    files: {
      'package.json': JSON.stringify({ private: true, type: 'commonjs' }),
      'tsconfig.json': nestConfig,
      'src/main.ts': nestProgram,
    },
    commands: [
      ['tsc', '-p', '.'],
      ['node', 'dist/main.js'],
    ],
  },
  {
    name: 'bun',
    title: 'Bun',
    tool: 'bun',
    installs: ['bun'],
    files: { 'package.json': '{"private":true,"type":"module"}', 'main.mjs': esModule },
    commands: [['bun', 'main.mjs']],
  },
  {
    name: 'deno',
    title: 'Deno',
    tool: 'deno',
    installs: ['deno'],
    files: { 'package.json': '{"private":true,"type":"module"}', 'main.mjs': esModule },
    commands: [['deno', 'run', '--allow-all', '--node-modules-dir=manual', 'main.mjs']],
  },
];
