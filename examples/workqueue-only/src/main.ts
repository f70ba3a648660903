// Keyed background work without Kubernetes: thumbnails of pictures. A picture that is reported ten times while it
// waits is rendered once; no two workers touch the same picture; what fails is tried again, later and later.
import { createRateLimitingQueue, exponentialRateLimiter } from '@kctl/workqueue';

interface Picture {
  readonly album: string;
  readonly file: string;
}

const key = ({ album, file }: Picture): string => `${album}/${file}`;
const queue = createRateLimitingQueue<Picture>({
  key,
  rateLimiter: exponentialRateLimiter({ key, baseMs: 20, maxMs: 1_000 }),
});

for (let report = 0; report < 10; report++) {
  for (const file of ['cat.jpg', 'dog.jpg', 'truncated.jpg']) queue.add({ album: 'pets', file });
}
console.log(`30 reports, ${queue.length} pictures wait`);

let missing = 3;
const pool = queue.run(
  {
    concurrency: 2,
    onError: (error, picture, attempt) => {
      console.log(`${picture.file}: ${error instanceof Error ? error.message : String(error)} (attempt ${attempt})`);
      return 'retry';
    },
  },
  async (picture) => {
    if (picture.file === 'truncated.jpg' && missing-- > 0) throw new Error('the upload is not complete');
    console.log(`${picture.file}: rendered`);
    if (missing < 0) queue.shutDown();
  },
);

await pool.ended;
console.log('all done');
