import tseslint from 'typescript-eslint';

const wallClock = 'Take a Clock from @kctl/wait: time is injected, so that tests can move it.';
const randomness = 'Take a `random: () => number` option: randomness is injected, so that tests can fix it.';

/** The house rules. `root` is the directory that holds the workspace. */
export function houseRules(root) {
  return tseslint.config(
    { ignores: ['**/dist/**', '**/node_modules/**', '**/generated/**', '**/.cache/**', '**/*.mjs', '**/*.js', '**/*.cjs', '**/tsup.config.ts', '**/vitest.config.ts', '**/.turbo/**',
        '**/extracted/**', 'packages/create/template/**', 'packages/create/additions/**',
        '**/*.d.ts'] },
    {
      files: ['**/*.ts'],
      extends: [tseslint.configs.strictTypeChecked],
      // One program for the whole workspace: a project each would load every package many times over.
      languageOptions: { parserOptions: { project: 'tsconfig.json', tsconfigRootDir: root } },
      linterOptions: { reportUnusedDisableDirectives: 'error' },
      rules: {
        '@typescript-eslint/consistent-type-imports': 'error',
        '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
        // The runner of node:test awaits what it is given.
        '@typescript-eslint/no-floating-promises': [
          'error',
          { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test'] }] },
        ],
        '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
        '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
        '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
        // Flow analysis narrows `signal.aborted` and other getters across an await, where they do change.
        '@typescript-eslint/no-unnecessary-condition': 'off',
        '@typescript-eslint/unified-signatures': 'off',
        '@typescript-eslint/no-unnecessary-type-parameters': 'off',
        '@typescript-eslint/no-dynamic-delete': 'off',
        '@typescript-eslint/max-params': ['error', { max: 4 }],
        'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
        'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } }],
        'no-restricted-globals': ['error', { name: 'setTimeout', message: wallClock }, { name: 'setInterval', message: wallClock }],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: wallClock },
          { object: 'performance', property: 'now', message: wallClock },
          { object: 'Math', property: 'random', message: randomness },
        ],
      },
    },
    {
      // `return promise` in an async function loses the caller's frames from the stacks of errors.
      files: ['packages/*/src/**/*.ts'],
      ignores: ['packages/apiserver/**', '**/*.test.ts'],
      rules: { '@typescript-eslint/return-await': ['error', 'always'] },
    },
    { files: ['packages/wait/src/**/*.ts'], rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' } },
    {
      files: ['**/*.test.ts', '**/test/**/*.ts', '**/conformance/**/*.ts', 'e2e/**/*.ts', 'bench/**/*.ts', 'examples/**/*.ts'],
      rules: {
        '@typescript-eslint/no-non-null-assertion': 'off',
        '@typescript-eslint/no-explicit-any': 'off',
        '@typescript-eslint/no-unsafe-argument': 'off',
        '@typescript-eslint/no-unsafe-call': 'off',
        '@typescript-eslint/no-misused-spread': 'off',
        '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
        '@typescript-eslint/no-meaningless-void-operator': 'off',
        '@typescript-eslint/unbound-method': 'off',
        '@typescript-eslint/no-unsafe-return': 'off',
        '@typescript-eslint/no-unsafe-assignment': 'off',
        '@typescript-eslint/no-unsafe-member-access': 'off',
        '@typescript-eslint/require-await': 'off',
        'max-lines': 'off',
        'no-restricted-globals': 'off',
        'no-restricted-properties': 'off',
      },
    },
  );
}
