import { requireObject, requireOptionsObject } from '@kctl/client/internal';
import { mutableCopy, type DeepReadonly } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { OptionNames } from '@kctl/options';
import { requireOptions, shownValue } from '@kctl/options';
import { uncoveredVersions, type Converter } from '../handler/converter.js';
import { WebhookServerError } from '../errors.js';
import {
  clientConfig,
  injectCaAnnotation,
  requireTrust,
  type WebhookAddress,
  type WebhookTrust,
} from './webhook-configurations.js';

/** Options of {@link withConversion}. */
export interface ConversionStanzaOptions extends WebhookTrust {
  readonly address: WebhookAddress;
  /** The kind's converter, which is checked to convert every version of the CRD. @default unchecked */
  readonly converter?: Converter;
  /** @default '/convert' */
  readonly path?: string;
}

const optionNames: OptionNames<ConversionStanzaOptions> = {
  address: true,
  converter: true,
  path: true,
  caBundle: true,
  injectCaFrom: true,
};

/**
 * A copy of a CRD whose objects are converted by webhook. Pure.
 *
 * @throws WebhookServerError when the converter leaves a served or stored version out, or is of another kind
 */
export function withConversion(
  crd: DeepReadonly<CustomResourceDefinition>,
  options: ConversionStanzaOptions,
): CustomResourceDefinition {
  requireOptions('withConversion', options, optionNames);
  const { address, caBundle, injectCaFrom, converter, path = '/convert' } = options;
  requireObject('withConversion', 'CRD', crd);
  requireOptionsObject('withConversion: spec', crd.spec, 'that of a CustomResourceDefinition');
  requireOptionsObject('withConversion: address', address, 'url or service');
  requireTrust('withConversion', options);
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new WebhookServerError(
      `withConversion: path ${shownValue(path)} is not valid: expected one that begins with /, as "/convert"`,
    );
  const copy: CustomResourceDefinition = mutableCopy(crd);
  const { group, names, versions } = copy.spec;
  if (converter !== undefined) {
    const kind = { group, kind: names.kind };
    if ('kind' in converter && 'group' in converter && (converter.kind !== kind.kind || converter.group !== group))
      throw new WebhookServerError(
        `withConversion: the converter is of ${String(converter.kind)}.${String(converter.group)}, not of ${formatGroupKind(kind)}`,
      );
    const needed = versions.filter(({ served, storage }) => served || storage).map(({ name }) => name);
    const uncovered = uncoveredVersions(converter, needed);
    if (uncovered !== undefined) throw new WebhookServerError(`withConversion: ${uncovered}`);
  }
  copy.spec.conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: clientConfig(address, path, caBundle), conversionReviewVersions: ['v1'] },
  };
  if (injectCaFrom !== undefined)
    copy.metadata.annotations = { ...copy.metadata.annotations, [injectCaAnnotation]: injectCaFrom };
  return copy;
}
