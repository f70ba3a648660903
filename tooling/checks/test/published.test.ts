// What the checks of published packages rely on, and what READMEs repeat of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const { cleanEnvironment }: { cleanEnvironment(more?: Record<string, string>): Record<string, string | undefined> } =
  await import(join(root, 'e2e', 'packages', 'src', 'workspace.mjs'));
const { consumers }: { consumers: { name: string; files: Record<string, string> }[] } = await import(
  join(root, 'e2e', 'packages', 'src', 'consumer-projects.mjs')
);
const { commandsOfImage }: { commandsOfImage(dockerfile: string): { stage: string; command: string; text: string }[] } =
  await import(join(root, 'e2e', 'packages', 'src', 'dockerfile.mjs'));

describe('the environment of a reader', () => {
  it('has the certificates of the machine, and nothing of npm, pnpm or the workspace', () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '/etc/ssl/certs/ca-certificates.crt');
    vi.stubEnv('NODE_OPTIONS', '--conditions=@kctl/source');
    vi.stubEnv('npm_lifecycle_event', 'test');
    vi.stubEnv('npm_config_registry', 'https://registry.example.com');
    vi.stubEnv('KUBECONFIG', '/home/me/.kube/config');
    try {
      const environment = cleanEnvironment({ CI: '1' });
      expect(environment).toMatchObject({
        NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
        npm_config_registry: 'https://registry.example.com',
        CI: '1',
      });
      for (const name of ['NODE_OPTIONS', 'npm_lifecycle_event', 'KUBECONFIG'])
        expect(environment).not.toHaveProperty(name);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

it('the README repeats the settings of Jest that are tested', () => {
  const tested = consumers.find(({ name }) => name === 'jest')?.files['jest.config.js'] ?? '';
  const [patterns] = /transformIgnorePatterns: \[[^\n]*\]/.exec(tested) ?? [];
  expect(patterns).toBeDefined();
  expect(readFileSync(join(root, 'packages', 'runtime', 'README.md'), 'utf8')).toContain(patterns);
});

describe('a Dockerfile of the documentation', () => {
  it('is read by stages, with continued lines in one piece', () => {
    const image = `FROM node:24 AS build\nWORKDIR /build\nRUN npx esbuild main.ts \\\n    --bundle\n\nFROM scratch\nCOPY --from=build /build/a /a\nCMD ["/a"]\n`;
    expect(commandsOfImage(image)).toEqual([
      { stage: 'build', command: 'WORKDIR', text: '/build' },
      { stage: 'build', command: 'RUN', text: 'npx esbuild main.ts --bundle' },
      { stage: '', command: 'COPY', text: '--from=build /build/a /a' },
      { stage: '', command: 'CMD', text: '["/a"]' },
    ]);
  });
});
