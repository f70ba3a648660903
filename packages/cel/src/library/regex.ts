import type { CallContext, FunctionEntry } from '../check/functions.js';
import { ArrayList } from '../values/list.js';
import { Failure, noSuchOverload, type Value } from '../values/value.js';
import { RegexCache } from './regex-cache.js';

function matches(cache: RegexCache, args: readonly Value[], limit: number, { meter }: CallContext): string[] | Failure {
  const [text, source] = args;
  if (typeof text !== 'string' || typeof source !== 'string') return noSuchOverload;
  const expression = cache.get(source);
  if (expression instanceof Failure) return new Failure(`Illegal regex: ${expression.message}`);
  meter.toil(Math.ceil((text.length * expression.programSize()) / 16));
  const matcher = expression.matcher(text);
  const found: string[] = [];
  while (found.length < limit && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}

/** Kubernetes' `find` and `findAll`. */
export function regexLibrary(): readonly FunctionEntry[] {
  const cache = new RegexCache();
  const all: FunctionEntry['call'] = (args, context) => {
    const [, , limit = -1n] = args;
    const most = typeof limit === 'bigint' && limit >= 0n ? Number(limit) : Infinity;
    const found = matches(cache, args, most, context);
    return found instanceof Failure ? found : new ArrayList(found);
  };
  return [
    {
      name: 'find',
      id: 'string_find_string',
      type: 'string.(string): string',
      call: (args, context) => {
        const found = matches(cache, args, 1, context);
        return found instanceof Failure ? found : (found[0] ?? '');
      },
    },
    { name: 'findAll', id: 'string_find_all_string', type: 'string.(string): list(string)', call: all },
    { name: 'findAll', id: 'string_find_all_string_int', type: 'string.(string, int): list(string)', call: all },
  ];
}
