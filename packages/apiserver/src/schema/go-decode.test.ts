import fc from 'fast-check';
import { decodeStruct, objectMetaStruct, type GoStruct } from '@kctl/crd/internal/engine';
import { describe, expect, it } from 'vitest';
import { builtinKinds } from '../resource/builtin-table.js';

describe('decodeStruct', () => {
  const pod = builtinKinds().find(({ kind, group }) => kind === 'Pod' && group === '');
  const decode = (value: Record<string, unknown>): unknown => decodeStruct(value, pod?.struct ?? fail(), []);
  function fail(): never {
    throw new Error('there is no Pod');
  }
  it('tells of the first wrong type, unless a value that parses itself fails after it', () => {
    const labels = { metadata: { labels: { n: 1 } } };
    expect(() => decode({ ...labels, spec: { hostNetwork: 'x' } })).toThrow(/metadata\.labels of type string$/);
    const spec = { containers: [{ resources: { limits: { cpu: 'x' } } }] };
    expect(() => decode({ ...labels, spec })).toThrow(/^quantities must match the regular expression/);
  });
  it('drops zero values as their tags say, and keeps those of pointers', () => {
    expect(
      decode({ spec: { containers: [], hostNetwork: false, nodeName: '', terminationGracePeriodSeconds: 0 } }),
    ).toEqual({
      metadata: {},
      spec: { containers: null, terminationGracePeriodSeconds: 0 },
      status: {},
    });
    expect(decode({})).toEqual({ metadata: {}, spec: { containers: null }, status: {} });
  });
  it.each([
    [
      { spec: { containers: {} } },
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      { spec: { containers: [{ ports: [{ containerPort: 'x' }] }] } },
      'json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
    ],
    [
      { spec: { containers: [{ ports: [{ containerPort: 2 ** 31 }] }] } },
      'json: cannot unmarshal number 2147483648 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
    ],
    [{ spec: 'x' }, 'json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec'],
    [
      { metadata: { labels: { a: true } } },
      'json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [{ spec: { containers: [{ resources: { limits: { cpu: 'x' } } }] } }, 'quantities must match'],
  ])('refuses %j', (value, message) => {
    expect(() => decode(value)).toThrow(message);
  });
  it('is idempotent for every kind and any JSON object', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...builtinKinds()),
        fc.dictionary(
          fc.constantFrom('metadata', 'spec', 'status', 'data', 'x'),
          fc.dictionary(fc.string(), fc.jsonValue()),
        ),
        ({ struct }, value) => {
          let once: Record<string, unknown>;
          try {
            once = decodeStruct(structuredClone(value), struct, []);
          } catch {
            return;
          }
          expect(decodeStruct(structuredClone(once), struct, [])).toEqual(once);
        },
      ),
    );
  });
  it('reads the metadata of custom resources by the same table as that of built-in kinds', () => {
    const fieldsOf = (struct: GoStruct | undefined): unknown =>
      Array.from(struct?.fields.values() ?? [], ({ name, type, ...rest }) => [name, type.goName, type.form, rest]);
    const metadata = pod?.struct.fields.get('metadata')?.type;
    if (metadata?.form !== 'struct') return fail();
    expect(fieldsOf(objectMetaStruct())).toEqual(fieldsOf(metadata.struct));
  });
});
