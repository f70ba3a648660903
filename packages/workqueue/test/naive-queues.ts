/** What both models have in common with the queues under test. */
export interface NaiveQueue {
  now: number;
  add(item: string): void;
  addAfter(item: string, delayMs: number, priority?: number): void;
  addWith(item: string, priority: number): void;
  take(): string | undefined;
  done(item: string): void;
  /** Takes back what is pending; says whether anything was. */
  delete(item: string): boolean;
  has(item: string): boolean;
  /** What waits, in the order of its hand-out. */
  waiting(): string[];
  /** What is delayed, with the ms left, by its time. */
  later(): [string, number][];
  advance(ms: number): void;
  shutDown(): void;
  drain(): void;
  readonly length: number;
  readonly processing: number;
  readonly delayed: number;
  readonly isDrained: boolean;
}

/** client-go's delaying queue, as plainly as it can be written: arrays, searched from the start. */
export class NaiveFifo implements NaiveQueue {
  now = 0;
  #waiting: string[] = [];
  #dirty: string[] = [];
  #processing: string[] = [];
  #later: { item: string; at: number; order: number }[] = [];
  #order = 0;
  #isDown = false;

  get length(): number {
    return this.#waiting.length;
  }

  get processing(): number {
    return this.#processing.length;
  }

  get delayed(): number {
    return this.#later.length;
  }

  get isDrained(): boolean {
    return this.#processing.length === 0;
  }

  add(item: string): void {
    if (this.#isDown || this.#dirty.includes(item)) return;
    this.#dirty.push(item);
    if (!this.#processing.includes(item)) this.#waiting.push(item);
  }

  addWith(item: string): void {
    this.add(item);
  }

  addAfter(item: string, delayMs: number): void {
    if (this.#isDown) return;
    if (delayMs <= 0) {
      this.add(item);
      return;
    }
    const at = this.now + delayMs;
    const known = this.#later.find((entry) => entry.item === item);
    if (known === undefined) this.#later.push({ item, at, order: this.#order++ });
    else if (at < known.at) Object.assign(known, { at, order: this.#order++ });
  }

  take(): string | undefined {
    const item = this.#waiting.shift();
    if (item === undefined) return undefined;
    this.#processing.push(item);
    this.#dirty = this.#dirty.filter((other) => other !== item);
    return item;
  }

  done(item: string): void {
    if (!this.#processing.includes(item)) return;
    this.#processing = this.#processing.filter((other) => other !== item);
    if (this.#dirty.includes(item)) this.#waiting.push(item);
  }

  has(item: string): boolean {
    return this.#dirty.includes(item) || this.#later.some((entry) => entry.item === item);
  }

  delete(item: string): boolean {
    const wasPending = this.has(item);
    this.#dirty = this.#dirty.filter((other) => other !== item);
    this.#waiting = this.#waiting.filter((other) => other !== item);
    this.#later = this.#later.filter((entry) => entry.item !== item);
    return wasPending;
  }

  waiting(): string[] {
    return [...this.#waiting];
  }

  later(): [string, number][] {
    return this.#later
      .toSorted((a, b) => a.at - b.at)
      .filter(({ item }) => !this.#waiting.includes(item) && !this.#processing.includes(item))
      .map(({ item, at }) => [item, at - this.now]);
  }

  advance(ms: number): void {
    this.now += ms;
    const due = this.#later.filter(({ at }) => at <= this.now).sort((a, b) => a.at - b.at || a.order - b.order);
    this.#later = this.#later.filter(({ at }) => at > this.now);
    for (const { item } of due) this.add(item);
  }

  shutDown(): void {
    this.#isDown = true;
    this.#later = [];
  }

  drain(): void {
    this.shutDown();
  }
}

interface Entry {
  readonly item: string;
  priority: number;
  /** Undefined when ready. */
  at: number | undefined;
  order: number;
  readyAt: number;
}

/** controller-runtime's priority queue with a real drain: one list of entries, sorted at each question. */
export class NaivePriority implements NaiveQueue {
  now = 0;
  #entries: Entry[] = [];
  #processing: string[] = [];
  #order = 0;
  #isDown = false;
  #isDraining = false;
  readonly #ageStepMs: number | undefined;

  constructor(ageStepMs?: number) {
    this.#ageStepMs = ageStepMs;
  }

  get length(): number {
    return this.#entries.filter((entry) => entry.at === undefined && !this.#processing.includes(entry.item)).length;
  }

  get processing(): number {
    return this.#processing.length;
  }

  get delayed(): number {
    return this.#entries.filter((entry) => entry.at !== undefined).length;
  }

  get isDrained(): boolean {
    return this.#processing.length === 0 && !(this.#isDraining && this.length > 0);
  }

  add(item: string): void {
    this.addAfter(item, 0);
  }

  addWith(item: string, priority: number): void {
    this.addAfter(item, 0, priority);
  }

  addAfter(item: string, delayMs: number, priority = 0): void {
    if (this.#isDown) return;
    const at = delayMs > 0 ? this.now + delayMs : undefined;
    const known = this.#entries.find((entry) => entry.item === item);
    if (known === undefined) {
      this.#entries.push({ item, priority, at, order: this.#order++, readyAt: this.now });
      return;
    }
    const isRaised = priority > known.priority;
    known.priority = Math.max(known.priority, priority);
    if (known.at === undefined) {
      if (isRaised) known.order = this.#order++;
    } else if (at === undefined || at < known.at) {
      known.at = at;
      known.order = this.#order++;
      known.readyAt = this.now;
    }
  }

  has(item: string): boolean {
    return this.#entries.some((entry) => entry.item === item);
  }

  delete(item: string): boolean {
    const wasPending = this.has(item);
    this.#entries = this.#entries.filter((entry) => entry.item !== item);
    return wasPending;
  }

  waiting(): string[] {
    return this.#ready().map(({ item }) => item);
  }

  later(): [string, number][] {
    return this.#entries
      .filter(({ item, at }) => at !== undefined && !this.#processing.includes(item))
      .map(({ item, at = 0 }): [string, number] => [item, at - this.now])
      .sort((a, b) => a[1] - b[1]);
  }

  #ready(): Entry[] {
    return this.#entries
      .filter((entry) => entry.at === undefined && !this.#processing.includes(entry.item))
      .sort(
        (a, b) =>
          this.#urgency(b) - this.#urgency(a) ||
          b.priority - a.priority ||
          (this.#ageStepMs === undefined ? 0 : a.readyAt - b.readyAt) ||
          a.order - b.order,
      );
  }

  take(): string | undefined {
    const [next] = this.#ready();
    if (next === undefined) return undefined;
    this.#entries = this.#entries.filter((entry) => entry !== next);
    this.#processing.push(next.item);
    return next.item;
  }

  done(item: string): void {
    this.#processing = this.#processing.filter((other) => other !== item);
  }

  advance(ms: number): void {
    this.now += ms;
    const due = this.#entries.filter(({ at }) => at !== undefined && at <= this.now);
    due.sort((a, b) => (a.at ?? 0) - (b.at ?? 0) || a.order - b.order);
    for (const entry of due) Object.assign(entry, { readyAt: entry.at, at: undefined, order: this.#order++ });
  }

  #urgency({ priority, readyAt }: Entry): number {
    return this.#ageStepMs === undefined ? priority : priority + Math.floor((this.now - readyAt) / this.#ageStepMs);
  }

  shutDown(): void {
    this.#isDown = true;
    this.#isDraining = false;
    this.#entries = [];
  }

  drain(): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#isDraining = true;
    this.#entries = this.#entries.filter(({ at }) => at === undefined);
  }
}
