import type { Logger } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { modified, refusal, thing } from './scripted-server.js';
import { feeds, ScriptedSession } from './scripted-session.js';

/** A logger that notes `level message {…}`, with the fields whose values are strings. */
function createNotes(): { readonly notes: string[]; readonly logger: Logger } {
  const notes: string[] = [];
  const at =
    (level: string) =>
    (message: string, fields: object = {}): void =>
      void notes.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const logger: Logger = {
    ...{ trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    isEnabled: () => true,
    child: () => logger,
  };
  return { notes, logger };
}

it.each(feeds)('logs each change of its state once, however often it tries (%s)', async (source) => {
  const { notes, logger } = createNotes();
  await using session = new ScriptedSession({ source, logger });
  let isRefused = true;
  session.server.page = () => {
    if (isRefused) throw refusal(403, 'Forbidden');
    return { version: 10, items: [] };
  };
  await session.start();
  await session.clock.advance(5_000);
  expect(session.server.lists.length).toBeGreaterThan(2);
  isRefused = false;
  await session.clock.advance(60_000);
  await session.stop();
  const state = (phase: string): string =>
    `debug informer changed state {"informer":"things.example.com","state":"${phase}"}`;
  const lines = notes.map((line) => line.replace(/,"error".*/, ''));
  const retrying = 'warn informer is retrying {"informer":"things.example.com","reason":"forbidden"';
  const turns = session.server.lists.length - 1;
  expect(lines).toEqual([
    state('listing'),
    ...Array.from({ length: turns }, () => [retrying, state('listing')]).flat(),
    state('watching'),
    state('stopped'),
  ]);
});

it.each(feeds)('logs what it skips, with its key and error, and what its hooks throw (%s)', async (source) => {
  const { notes, logger } = createNotes();
  await using session = new ScriptedSession({
    source,
    logger,
    onHandlerError: () => {
      throw new Error('hook');
    },
    transform: (object) => {
      if (object.metadata.name === 'bad') throw new Error('bad one');
      return object;
    },
  });
  session.server.page = () => ({ version: 10, items: [thing('bad', 1), thing('x', 2)] });
  session.informer.addEventHandler({
    onUpdate: () => {
      throw new Error('handler');
    },
  });
  await session.start();
  expect(notes.filter((line) => line.startsWith('error'))).toEqual([
    expect.stringMatching(
      /could not be transformed.*; it is skipped \{.*"key":"a\/bad","informer":"things\.example\.com"\}$/,
    ),
  ]);
  session.server.watch.send(modified(thing('x', 11)));
  await settle();
  expect(notes.at(-1)).toBe(
    'error onHandlerError failed {"error":{},"handler":"handler-1","informer":"things.example.com","object":"a/x"}',
  );
});

it.each(feeds)('logs an index function that fails (%s)', async (source) => {
  const { notes, logger } = createNotes();
  await using session = new ScriptedSession({
    source,
    logger,
    indexers: {
      broken: () => {
        throw new Error('no');
      },
    },
  });
  session.server.page = () => ({ version: 10, items: [thing('x', 1)] });
  await session.start();
  expect(notes.filter((line) => line.startsWith('error'))).toEqual([
    expect.stringMatching(
      /^error index function failed \{.*"indexName":"broken".*,"informer":"things\.example\.com"\}$/,
    ),
  ]);
});
