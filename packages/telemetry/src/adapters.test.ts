// The adapters over the libraries themselves.
import { Writable } from 'node:stream';
import type { AnyValueMap, LogRecord } from '@opentelemetry/api-logs';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createOpenTelemetryLogger, createPinoLogger } from './index.js';

const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'd', name: 's' }, data: { a: 'aGlkZGVu' } };

const revoked = Proxy.revocable({}, {});
revoked.revoke();
/** What plain JavaScript gives in the place of fields. */
const hostile: readonly unknown[] = [
  null,
  7,
  'text',
  Symbol('s'),
  [1],
  revoked.proxy,
  {
    get bad() {
      throw new Error('getter');
    },
  },
];

describe('createPinoLogger', () => {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });

  it('writes fields, children and errors, and no contents of objects', () => {
    const logger = createPinoLogger(pino({ level: 'debug' }, stream));
    const child = logger.child({ controller: 'widget', object: secret });
    child.info('reconciling', { secret, attempt: 2 });
    child.error('failed', { error: new Error('outer', { cause: new Error('inner') }) });
    logger.trace('too fine');
    expect([logger.isEnabled('debug'), logger.isEnabled('trace')]).toEqual([true, false]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      msg: 'reconciling',
      level: 30,
      controller: 'widget',
      attempt: 2,
      secret: { kind: 'Secret', namespace: 'd', name: 's' },
    });
    expect(lines[1]).toMatchObject({ level: 50, error: { message: 'outer: inner' } });
    expect(JSON.stringify(lines)).not.toContain('aGlkZGVu');
  });
});

describe('createPinoLogger, given what is not fields', () => {
  const lines: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });

  it('does not throw, keeps an error in the place of fields, and lets no field hide the level', () => {
    const logger = createPinoLogger(pino({ level: 'info' }, stream));
    for (const fields of hostile) logger.info('odd', fields as never);
    expect(lines).toHaveLength(hostile.length);
    logger.error('failed', new Error('given as fields') as never);
    logger.error(new Error('boom') as never);
    logger.child(null as never).info('child');
    logger.child({ level: 'none', msg: 'own' }).warn('said', { level: 'loud', time: 0, msg: 'other' });
    const parsed = lines.slice(-4).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(parsed[0]).toMatchObject({ msg: 'failed', error: { message: 'given as fields' } });
    expect(parsed[1]).toMatchObject({ msg: 'boom', error: { message: 'boom' } });
    expect(parsed[3]).toMatchObject({
      level: 40,
      msg: 'said',
      'fields.level': 'loud',
      'fields.time': 0,
      'fields.msg': 'other',
    });
    expect(lines.at(-1)?.match(/"(?:level|msg)":/g)).toHaveLength(2);
  });
});

describe('createOpenTelemetryLogger', () => {
  const records: LogRecord[] = [];
  const sink = { emit: (record: LogRecord) => void records.push(record) };

  it('emits records with severity and attributes', () => {
    const logger = createOpenTelemetryLogger(sink, { level: 'debug', fields: { service: 'shop' } });
    logger.child({ controller: 'widget' }).warn('slow', { object: secret, ms: 12, names: ['a'] });
    logger.trace('too fine');
    logger.error('failed', { error: new TypeError('outer', { cause: new Error('inner') }) });
    expect(records).toHaveLength(2);
    expect(records[0]).toEqual({
      severityNumber: 13,
      severityText: 'WARN',
      body: 'slow',
      attributes: {
        service: 'shop',
        controller: 'widget',
        object: { apiVersion: 'v1', kind: 'Secret', namespace: 'd', name: 's' },
        ms: 12,
        names: ['a'],
      },
    });
    const attributes = records[1]?.attributes as AnyValueMap;
    expect(attributes).toMatchObject({
      error: 'outer: inner',
      'exception.type': 'TypeError',
      'exception.message': 'outer: inner',
    });
    expect(attributes['exception.stacktrace']).toContain('adapters.test.ts');
  });

  it('does not throw, whatever it is given, and keeps an error in the place of fields', () => {
    const before = records.length;
    const logger = createOpenTelemetryLogger(sink);
    for (const fields of hostile) logger.info('odd', fields as never);
    logger.error(new Error('boom') as never);
    logger.error('failed', new Error('given as fields') as never);
    createOpenTelemetryLogger(sink, { fields: null as never })
      .child(null as never)
      .info('child');
    expect(records.slice(before)).toHaveLength(hostile.length + 3);
    expect(records.at(-3)).toMatchObject({ body: 'boom', attributes: { 'exception.message': 'boom' } });
    expect(records.at(-2)).toMatchObject({ attributes: { error: 'given as fields' } });
    const broken = createOpenTelemetryLogger({
      emit: () => {
        throw new Error('exporter');
      },
    });
    expect(() => broken.info('x')).not.toThrow();
  });

  it('refuses an unknown level', () => {
    expect(() => createOpenTelemetryLogger(sink, { level: 'loud' as never })).toThrow(
      'level is "loud": use one of trace',
    );
  });
});
