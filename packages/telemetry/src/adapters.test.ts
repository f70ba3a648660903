// The adapters over the libraries themselves.
import { Writable } from 'node:stream';
import type { AnyValueMap, LogRecord } from '@opentelemetry/api-logs';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createOpenTelemetryLogger, createPinoLogger } from './index.js';

const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'd', name: 's' }, data: { a: 'aGlkZGVu' } };

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

  it('refuses an unknown level', () => {
    expect(() => createOpenTelemetryLogger(sink, { level: 'loud' as never })).toThrow(
      'level is "loud": use one of trace',
    );
  });
});
