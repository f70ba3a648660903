import { describe, expect, it } from 'vitest';
import { describeError } from './index.js';
import { messageOf } from './internal/index.js';

const folder = new URL('../../', import.meta.url).pathname;
function withStack(error: Error, ...frames: string[]): Error {
  return Object.defineProperty(error, 'stack', {
    value: [`${error.name}: ${error.message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n'),
  });
}
const userFrame = 'resize (/app/src/reconcile.ts:12:20)';

describe('a described error', () => {
  it('joins the messages of its causes, each once', () => {
    const root = new TypeError('no replicas');
    const error = new Error('panic: no replicas [recovered]', { cause: root });
    expect(describeError(new Error('reconcile failed', { cause: error })).message).toBe(
      'reconcile failed: panic: no replicas [recovered]',
    );
  });

  it('has the code of the outermost error that has one', () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    expect(describeError(new Error('get failed', { cause })).code).toBe('ECONNREFUSED');
  });

  it.each([
    ['installed', '/app/node_modules/@kctl/client/dist/index.js'],
    ['installed by pnpm', '/app/node_modules/.pnpm/@kctl+client@1.0.0/node_modules/@kctl/client/dist/index.js'],
    ['on Windows', String.raw`C:\app\node_modules\@kctl\client\dist\index.js`],
    ['in this workspace', `${folder}client/src/index.ts`],
  ])('folds frames of @kctl and Node, %s, so that the user comes first', (_how, file) => {
    const frames = Array.from({ length: 9 }, (_, index) => `async Client.m${index} (${file}:1:1)`);
    const error = withStack(new Error('x'), ...frames, 'process.processTicks (node:internal/task:1:1)', userFrame);
    expect(describeError(error).stack?.split('\n')).toEqual([
      'Error',
      '    ... 10 frames in @kctl/client, node',
      `    at ${userFrame}`,
    ]);
  });

  it('does not fold frames of a workspace of the user, of tests, and of other dependencies', () => {
    const frames = [
      'a (/app/packages/client/src/x.ts:1:1)',
      `b (${folder}client/src/x.test.ts:1:1)`,
      'c (/app/node_modules/pg/lib/client.js:1:1)',
    ];
    expect(describeError(withStack(new Error('x'), ...frames)).stack?.split('\n')).toHaveLength(4);
  });

  it('leaves out links that have frames of ours alone, unless all have', () => {
    const ours = `run (${folder}controller/src/reconcile-loop.ts:1:1)`;
    const cause = withStack(new TypeError('no replicas'), userFrame);
    const panic = withStack(Object.assign(new Error('panic: no replicas', { cause }), { name: 'PanicError' }), ours);
    expect(describeError(panic).stack).toBe(`TypeError\n    at ${userFrame}`);
    expect(describeError(withStack(new Error('lost'), ours)).stack).toBe(`Error\n    at ${ours}`);
  });

  it('names the members of an AggregateError with their messages', () => {
    const error = new AggregateError([withStack(new Error('first'), userFrame), new Error('second')], 'two failed');
    const { message, stack } = describeError(error);
    expect(message).toBe('two failed');
    expect(stack).toContain('member: Error: first');
    expect(stack).toContain('member: Error: second');
  });

  it.each([
    [
      'a cause that is the error',
      () => {
        const e = new Error('a');
        e.cause = e;
        return e;
      },
    ],
    [
      'a stack that throws',
      () =>
        Object.defineProperty(new Error('a'), 'stack', {
          get: () => {
            throw new Error('no');
          },
        }),
    ],
    ['a stack that is a number', () => Object.defineProperty(new Error('a'), 'stack', { value: 5 })],
    [
      'a message that throws',
      () =>
        Object.defineProperty(new Error('a'), 'message', {
          get: () => {
            throw new Error('no');
          },
        }),
    ],
    [
      'a chain of a thousand',
      () =>
        Array.from({ length: 1000 }).reduce<Error>((cause, _, i) => new Error(`m${i}`, { cause }), new Error('root')),
    ],
  ])('survives %s', (_what, make) => {
    const { message, stack = '' } = describeError(make());
    expect(typeof message).toBe('string');
    expect(stack.length).toBeLessThan(40_000);
  });
});

describe('the message of what was thrown', () => {
  it.each([
    [new Error('boom'), 'boom'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [42n, '42'],
    [Symbol('s'), 'Symbol(s)'],
    [{ code: 5, secret: 'canary' }, 'an object with code, secret'],
    [Object.create(null), 'an object without properties'],
    [{ message: 'like an error' }, 'like an error'],
    [{ toString: () => 'printed' }, 'printed'],
    [
      {
        toString: () => {
          throw new Error('x');
        },
      },
      'a value that cannot be read',
    ],
    [[1, 2], '[object Array]'],
  ])('%o', (thrown, expected) => {
    expect(messageOf(thrown)).toBe(expected);
  });
});

describe('a message in which V8 quotes JSON', () => {
  const problem = (text: string): unknown => {
    try {
      JSON.parse(text);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it.each(['canary is not', '{"a": canary}', '[1,]canary', `"${'x'.repeat(90)}canary"canary`, 'canary'.repeat(20)])(
    'is shown without the text: %s',
    (text) => {
      const outer = new Error(`read the key: ${String(problem(text))}`, { cause: problem(text) });
      const described = describeError(outer);
      expect(JSON.stringify(described)).not.toContain('canary');
      expect(described.message).toMatch(/^read the key: SyntaxError: Un/);
    },
  );

  it('keeps what quotes nothing', () => {
    expect(describeError(problem('{"a"')).message).toMatch(/in JSON at position|end of JSON/);
    expect(describeError(problem(undefined as never)).message).toBe('the text is not valid JSON');
  });
});
