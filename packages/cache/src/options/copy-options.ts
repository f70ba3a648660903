import { mutableCopy } from '@kctl/apimachinery';
import type {
  CacheOptions,
  KindOptions,
  NamespaceScopes,
  ScopeOptions,
  SelectedInformerOptions,
} from '../cache-options.js';

/** A copy of the current options; later changes by their owner have no effect. */
export function copyCacheOptions(options: CacheOptions): CacheOptions {
  const { byObject, defaultNamespaces, defaults } = options;
  return {
    ...options,
    ...(byObject === undefined ? {} : { byObject: byObject.map(copyKindOptions) }),
    ...(defaultNamespaces === undefined ? {} : { defaultNamespaces: copyNamespaces(defaultNamespaces) }),
    ...(defaults === undefined ? {} : { defaults: copyScope(defaults) }),
  };
}

export function copyNamespaces(namespaces: NamespaceScopes): NamespaceScopes {
  return Object.fromEntries(Object.entries(namespaces).map(([name, scope]) => [name, copyScope(scope)]));
}

/** Of a selected informer. */
export function copySelection(options: SelectedInformerOptions): SelectedInformerOptions {
  const { namespaces } = options;
  return { ...copyScope(options), ...(namespaces === undefined ? {} : { namespaces: copyNamespaces(namespaces) }) };
}

function copyKindOptions(options: KindOptions): KindOptions {
  const { namespaces } = options;
  return { ...copyScope(options), ...(namespaces === undefined ? {} : { namespaces: copyNamespaces(namespaces) }) };
}

function copyScope<S extends ScopeOptions>(options: S): S {
  const { labelSelector, fieldSelector, storage } = options;
  return {
    ...options,
    ...(typeof storage === 'object' ? { storage: { ...storage } } : {}),
    ...(labelSelector === undefined ? {} : { labelSelector: copySelector(labelSelector) }),
    ...(fieldSelector === undefined ? {} : { fieldSelector: copySelector(fieldSelector) }),
  };
}

/** Strings and parsed selectors do not change. */
function copySelector<S>(selector: S): S;
function copySelector(selector: unknown): unknown {
  const isParsed =
    typeof selector === 'object' &&
    selector !== null &&
    'matches' in selector &&
    typeof selector.matches === 'function';
  return isParsed ? selector : mutableCopy(selector);
}
