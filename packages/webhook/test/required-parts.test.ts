// What plain JavaScript may leave out, or give as something else: found at the call, not by the first request.
import { describe, expect, it } from 'vitest';
import {
  admissionWebhook,
  chainDefaulters,
  chainValidators,
  conversionWebhook,
  createWebhookServer,
  defaultingWebhook,
  multiMutatingHandler,
  multiValidatingHandler,
  mutationRule,
  spoke,
  standaloneWebhook,
  tokenReviewWebhook,
  validatingWebhook,
  validationRule,
} from '../src/index.js';
import { Widget } from './fixtures.js';

type Make = (part: never) => unknown;
const parts: Readonly<Record<string, Make>> = {
  admissionWebhook: (handler) => admissionWebhook(handler),
  defaultingWebhook: (defaulter) => defaultingWebhook(Widget, defaulter),
  conversionWebhook: (converter) => conversionWebhook(converter),
  tokenReviewWebhook: (authenticator) => tokenReviewWebhook(authenticator),
  chainDefaulters: (defaulter) => chainDefaulters(() => undefined, defaulter),
  multiMutatingHandler: (handler) => multiMutatingHandler(handler),
  multiValidatingHandler: (handler) => multiValidatingHandler(handler),
  validationRule: (rule) => validationRule(Widget, {}, rule),
  mutationRule: (rule) => mutationRule(Widget, {}, rule),
  'spoke: toHub': (toHub) => spoke(Widget, Widget, { toHub, fromHub: () => ({}) }),
  'spoke: fromHub': (fromHub) => spoke(Widget, Widget, { toHub: () => ({}), fromHub }),
};

describe('a function that a webhook needs', () => {
  it.each(Object.entries(parts))('is refused by %s where it is something else', (_name, make) => {
    for (const given of [undefined, null, 5, {}, ''])
      expect(() => make(given as never)).toThrow(': expected a function');
  });
});

describe('standaloneWebhook', () => {
  it.each([undefined, null, 5, () => undefined, { handle: () => undefined }])(
    'refuses %j, which is not a handler',
    (handler) => {
      expect(() => standaloneWebhook(handler as never)).toThrow('expected one such as validatingWebhook(…)');
    },
  );

  it.each([0, Number.NaN, -1, 1.5, '1'])('refuses %j bytes, as a server does', (maxBufferedBytes) => {
    const handler = validatingWebhook(Widget, {});
    for (const make of [
      () => standaloneWebhook(handler, { maxBufferedBytes } as never),
      () => createWebhookServer({ maxBufferedBytes } as never),
    ])
      expect(make).toThrow('maxBufferedBytes');
  });
});

describe('a validator', () => {
  class Typo {
    validateCreated(): void {}
  }
  const makers = [
    (validator: unknown) => validatingWebhook(Widget, validator as never),
    (validator: unknown) => chainValidators({}, validator as never),
  ];

  it('whose members have other names is refused: it would allow everything', () => {
    for (const make of makers) {
      expect(() => make({ validateCreated: () => undefined })).toThrow(
        'validator has none of validateCreate, validateUpdate, validateDelete, but validateCreated: it would allow everything',
      );
      expect(() => make(new Typo())).toThrow('it would allow everything');
    }
  });

  it('whose member is not a function is refused', () => {
    for (const make of makers)
      expect(() => make({ validateCreate: true })).toThrow('validator: validateCreate is a value of type boolean');
  });

  it('may have no member, and others beside one that is known', () => {
    for (const make of makers) {
      expect(() => make({})).not.toThrow();
      expect(() => make({ limit: 5, validateDelete: () => undefined })).not.toThrow();
      expect(() => make(Object.create({ validateCreate: () => undefined }))).not.toThrow();
    }
  });
});
