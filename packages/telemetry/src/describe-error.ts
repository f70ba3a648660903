import { messageOf, property } from './message-of.js';
import { framesOf } from './stack-frames.js';

/** An error as a log line contains it. */
export interface DescribedError {
  /** Class of the error that was logged, the outermost. */
  readonly name: string;
  /** Messages of the whole chain, outermost first, each once; without stacks also those of the members of AggregateErrors. */
  readonly message: string;
  /** Stable code of the outermost error that has one, e.g. `KCTL_TERMINAL` or `ECONNREFUSED`. */
  readonly code?: string;
  /** Class and frames of each error of the chain that has frames outside of @kctl and Node, outermost first. */
  readonly stack?: string;
}

/**
 * Describes an error with its causes and the members of AggregateErrors. Frames of @kctl packages and of Node are
 * folded into one line, so that the caller's own code is at the top. Never throws; a chain that contains itself ends
 * there.
 */
export function describeError(error: unknown, options: { readonly stack?: boolean } = {}): DescribedError {
  const chain = chainOf(error);
  const own = joinMessages(chain.filter((link) => link.depth === 0).map((link) => messageOf(link.error)));
  // Stacks name the members of an AggregateError. Without stacks, or without any message, the message has to name them.
  const message = options.stack === false || own === '' ? withMembers(own, chain) : own;
  const code = chain.map((link) => property(link.error, 'code')).find((value) => typeof value === 'string');
  const stack = options.stack === false ? '' : stackOf(chain, message);
  return {
    name: nameOf(error),
    message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(stack === '' ? {} : { stack }),
  };
}

/** Whether a value is an Error, also one of another realm. False for a value that cannot be read. */
export function isError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
  } catch {
    return false;
  }
}

function isAggregate(value: unknown): boolean {
  return isError(value) && (value instanceof AggregateError || property(value, 'name') === 'AggregateError');
}

interface Link {
  readonly error: unknown;
  /** 0 for the error itself and its causes, more inside an AggregateError. */
  readonly depth: number;
}

const maxLinks = 16;

/** The error, its causes and the members of AggregateErrors with theirs, each once. */
function chainOf(error: unknown): Link[] {
  const links: Link[] = [];
  const add = (link: unknown, depth: number): void => {
    if (links.length >= maxLinks || links.some((known) => known.error === link)) return;
    links.push({ error: link, depth });
    const cause = property(link, 'cause');
    if (cause !== undefined && cause !== null) add(cause, depth);
    const members = property(link, 'errors');
    if (isAggregate(link) && Array.isArray(members)) for (const member of members) add(member, depth + 1);
  };
  add(error, 0);
  return links;
}

/** Joins messages with a colon, leaving out those that an outer message contains already. */
function joinMessages(messages: readonly string[]): string {
  return messages
    .filter((message, index) => message !== '' && !messages.slice(0, index).some((outer) => outer.includes(message)))
    .join(': ');
}

function withMembers(message: string, chain: readonly Link[]): string {
  const members = chain.filter((link) => link.depth > 0).map((link) => messageOf(link.error));
  const news = [...new Set(members)].filter((member) => member !== '' && !message.includes(member)).join('; ');
  if (news === '') return message;
  return message === '' ? news : `${message} (${news})`;
}

function stackOf(chain: readonly Link[], message: string): string {
  const sections = chain.map(({ error, depth }) => {
    const own = messageOf(error);
    const header = message.includes(own) || own === '' ? nameOf(error) : `${nameOf(error)}: ${own}`;
    return { header, depth, isNamed: header !== nameOf(error), ...framesOf(error) };
  });
  const hasOwnFrames = sections.some((section) => section.foreign > 0);
  return sections
    .filter(
      (section, index) =>
        section.isNamed || (hasOwnFrames ? section.foreign > 0 : index === 0 || section.all.length > 0),
    )
    .map((section, index) => {
      const relation = index === 0 ? '' : section.depth > 0 ? 'member: ' : 'caused by: ';
      return [`${relation}${section.header}`, ...(hasOwnFrames ? section.folded : section.all)].join('\n');
    })
    .join('\n');
}

function nameOf(error: unknown): string {
  const name = property(error, 'name');
  if (typeof name === 'string' && name !== '') return name;
  return error === null ? 'null' : typeof error;
}
