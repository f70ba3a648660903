/** The audit log of a real API server, for what admission writes into it. */
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The log of one server. Dispose of it after the server's stop. */
export interface AuditLog extends AsyncDisposable {
  /** Flags of kube-apiserver. */
  readonly flags: readonly string[];
  /** Annotations of a write, once it stands in the log: which takes only bodies that are JSON. @throws when it does not come */
  annotationsOf(auditId: string): Promise<Readonly<Record<string, string>>>;
}

// Patches of webhooks are noted from this level on.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`;

const patienceMs = 10_000;
const pollMs = 3;

interface AuditEvent {
  readonly auditID: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Prepares a policy and the file of the log. */
export async function createAuditLog(): Promise<AuditLog> {
  const folder = await mkdtemp(join(tmpdir(), 'kctl-audit-'));
  const [policyFile, logFile] = [join(folder, 'policy.yaml'), join(folder, 'audit.log')];
  await writeFile(policyFile, policy);
  await writeFile(logFile, '');
  const file = await open(logFile, 'r');
  const events = new Map<string, AuditEvent>();
  let position = 0;
  let rest = '';
  let reading: Promise<void> = Promise.resolve();
  const readOn = async (): Promise<void> => {
    const { size } = await file.stat();
    if (size <= position) return;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - position), 0, size - position, position);
    position += bytesRead;
    // Latin-1 keeps bytes apart that a read has cut in two; annotations of admission are ASCII.
    const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = JSON.parse(line) as AuditEvent;
      events.set(event.auditID, event);
    }
    if (events.size > 4_000) for (const id of [...events.keys()].slice(0, 2_000)) events.delete(id);
  };
  return {
    flags: [
      `--audit-policy-file=${policyFile}`,
      `--audit-log-path=${logFile}`,
      '--audit-log-mode=blocking',
      '--audit-log-maxsize=4000',
    ],
    async annotationsOf(auditId) {
      for (const until = Date.now() + patienceMs; Date.now() < until; ) {
        reading = reading.then(readOn);
        await reading;
        const event = events.get(auditId);
        if (event !== undefined) return event.annotations ?? {};
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      }
      throw new Error(`the audit log has nothing of ${auditId} after ${patienceMs} ms`);
    },
    async [Symbol.asyncDispose]() {
      await file.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
