import {
  dns1123Label,
  dns1123Subdomain,
  duplicate,
  invalidValue,
  isObject,
  labelKey,
  notFoundValue,
  notSupported,
  numberOf,
  objectsOf,
  quantityNanos,
  portName,
  rangeError,
  required,
  stringOf,
  validateAnnotations,
  validateLabels,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';

/** Checks a string against a set of allowed ones; an empty one is missing. */
export function oneOf(value: unknown, field: string, allowed: readonly string[]): FieldError[] {
  const given = stringOf(value);
  if (given === '') return [required(field)];
  return allowed.includes(given) ? [] : [notSupported(field, given, allowed)];
}

/** Warnings about a valid pod, such as ports that are declared twice, or a grace that makes no sense. */
export function podWarnings(spec: JsonObject, field: string): string[] {
  const seen = new Map<string, string>();
  const warnings: string[] = [];
  for (const [index, container] of objectsOf(spec['containers']).entries()) {
    for (const [position, port] of objectsOf(container['ports']).entries()) {
      const place = `${field}.containers[${index}].ports[${position}]`;
      const identity = `${stringOf(port['protocol'])}/${numberOf(port['containerPort'])}/${numberOf(port['hostPort'])}`;
      const first = seen.get(identity);
      if (first === undefined) seen.set(identity, place);
      else warnings.push(`${place}: duplicate port definition with ${first}`);
    }
  }
  if ((numberOf(spec['terminationGracePeriodSeconds']) ?? 0) < 0) {
    warnings.push(
      `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  }
  return warnings;
}

/** Checks that a number is not negative. */
export function nonNegative(value: unknown, field: string): FieldError[] {
  const number = numberOf(value);
  return number !== undefined && number < 0 ? [invalidValue(field, number, 'must be greater than or equal to 0')] : [];
}

function validatePorts(ports: unknown, field: string): FieldError[] {
  const names = new Set<string>();
  return objectsOf(ports).flatMap((port, index) => {
    const path = `${field}[${index}]`;
    const errors: FieldError[] = [];
    const name = stringOf(port['name']);
    if (name !== '') {
      for (const message of portName(name)) errors.push(invalidValue(`${path}.name`, name, message));
      if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    const containerPort = numberOf(port['containerPort']) ?? 0;
    if (containerPort === 0) errors.push(required(`${path}.containerPort`));
    else if (containerPort < 1 || containerPort > 65535) {
      errors.push(invalidValue(`${path}.containerPort`, containerPort, rangeError(1, 65535)));
    }
    const hostPort = numberOf(port['hostPort']) ?? 0;
    if (hostPort < 0 || hostPort > 65535) errors.push(invalidValue(`${path}.hostPort`, hostPort, rangeError(1, 65535)));
    errors.push(...oneOf(port['protocol'], `${path}.protocol`, ['SCTP', 'TCP', 'UDP']));
    return errors;
  });
}

function validateEnv(env: unknown, field: string): FieldError[] {
  return objectsOf(env).flatMap((variable, index) => {
    const path = `${field}[${index}]`;
    const name = stringOf(variable['name']);
    if (name === '') return [required(`${path}.name`)];
    const errors: FieldError[] = [];
    if (!/^[ -<>-~]+$/.test(name)) {
      const text = "a valid environment variable name must consist only of printable ASCII characters other than '='";
      errors.push(invalidValue(`${path}.name`, name, text));
    }
    const { valueFrom } = variable;
    if (!isObject(valueFrom)) return errors;
    if (stringOf(variable['value']) !== '') {
      errors.push(invalidValue(`${path}.valueFrom`, '', 'may not be specified when `value` is not empty'));
    }
    const sources = Object.keys(valueFrom).length;
    if (sources === 0)
      errors.push(
        invalidValue(
          `${path}.valueFrom`,
          '',
          'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
        ),
      );
    if (sources > 1)
      errors.push(invalidValue(`${path}.valueFrom`, '', 'may not have more than one field specified at a time'));
    return errors;
  });
}

function validateMounts(mounts: unknown, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const paths = new Set<string>();
  return objectsOf(mounts).flatMap((mount, index) => {
    const at = `${field}[${index}]`;
    const errors: FieldError[] = [];
    const name = stringOf(mount['name']);
    const path = stringOf(mount['mountPath']);
    if (name === '') errors.push(required(`${at}.name`));
    else if (!volumes.has(name)) errors.push(notFoundValue(`${at}.name`, name));
    if (path === '') errors.push(required(`${at}.mountPath`));
    else if (paths.has(path)) errors.push(invalidValue(`${at}.mountPath`, path, 'must be unique'));
    paths.add(path);
    return errors;
  });
}

function validateResources(resources: unknown, field: string): FieldError[] {
  if (!isObject(resources)) return [];
  const errors: FieldError[] = [];
  const limits = isObject(resources['limits']) ? resources['limits'] : {};
  const requests = isObject(resources['requests']) ? resources['requests'] : {};
  for (const [kind, list] of Object.entries({ limits, requests })) {
    for (const [name, quantity] of Object.entries(list)) {
      const path = `${field}.${kind}[${name}]`;
      for (const message of labelKey(name)) errors.push(invalidValue(path, name, message));
      const amount = quantityNanos(stringOf(quantity));
      if (amount < 0n) errors.push(invalidValue(path, quantity, 'must be greater than or equal to 0'));
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit === undefined) continue;
    if (quantityNanos(stringOf(request)) > quantityNanos(stringOf(limit))) {
      const text = `must be less than or equal to ${name} limit of ${stringOf(limit)}`;
      errors.push(invalidValue(`${field}.requests`, request, text));
    }
  }
  return errors;
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function validateProbe(probe: unknown, field: string): FieldError[] {
  if (!isObject(probe)) return [];
  const count = handlers.filter((name) => isObject(probe[name])).length;
  const errors = count === 0 ? [required(field, 'must specify a handler type')] : [];
  for (const name of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ]) {
    errors.push(...nonNegative(probe[name], `${field}.${name}`));
  }
  return errors;
}

function validateContainer(container: JsonObject, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const name = stringOf(container['name']);
  const errors =
    name === ''
      ? [required(`${field}.name`)]
      : dns1123Label(name).map((message) => invalidValue(`${field}.name`, name, message));
  if (stringOf(container['image']) === '') errors.push(required(`${field}.image`));
  errors.push(
    ...oneOf(container['terminationMessagePolicy'], `${field}.terminationMessagePolicy`, [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...validatePorts(container['ports'], `${field}.ports`),
    ...validateEnv(container['env'], `${field}.env`),
    ...validateMounts(container['volumeMounts'], volumes, `${field}.volumeMounts`),
    ...oneOf(container['imagePullPolicy'], `${field}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    ...validateResources(container['resources'], `${field}.resources`),
    ...validateProbe(container['livenessProbe'], `${field}.livenessProbe`),
    ...validateProbe(container['readinessProbe'], `${field}.readinessProbe`),
    ...validateProbe(container['startupProbe'], `${field}.startupProbe`),
  );
  return errors;
}

function validateContainers(spec: JsonObject, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const containers = objectsOf(spec['containers']);
  if (containers.length === 0) return [required(`${field}.containers`)];
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const kind of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const [index, container] of objectsOf(spec[kind]).entries()) {
      const path = `${field}.${kind}[${index}]`;
      errors.push(...validateContainer(container, volumes, path));
      const name = stringOf(container['name']);
      if (name !== '' && names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
  }
  return errors;
}

function validateVolumes(spec: JsonObject, field: string): [FieldError[], ReadonlySet<string>] {
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, volume] of objectsOf(spec['volumes']).entries()) {
    const path = `${field}.volumes[${index}]`;
    const name = stringOf(volume['name']);
    if (name === '') errors.push(required(`${path}.name`));
    else for (const message of dns1123Label(name)) errors.push(invalidValue(`${path}.name`, name, message));
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
    const sources = Object.keys(volume).filter((key) => key !== 'name');
    if (sources.length > 1) {
      const [, extra = ''] = sources;
      errors.push({
        reason: 'FieldValueForbidden',
        field: `${path}.${extra}`,
        message: 'Forbidden: may not specify more than 1 volume type',
      });
    }
  }
  return [errors, names];
}

/** Validates a pod's spec. */
export function validatePodSpec(spec: JsonObject, field: string): FieldError[] {
  const [errors, volumes] = validateVolumes(spec, field);
  errors.push(
    ...validateContainers(spec, volumes, field),
    ...oneOf(spec['restartPolicy'], `${field}.restartPolicy`, ['Always', 'OnFailure', 'Never']),
    ...oneOf(spec['dnsPolicy'], `${field}.dnsPolicy`, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
    ...validateLabels(spec['nodeSelector'], `${field}.nodeSelector`),
  );
  for (const name of ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName']) {
    const value = stringOf(spec[name]);
    if (value === '') continue;
    for (const message of dns1123Subdomain(value)) errors.push(invalidValue(`${field}.${name}`, value, message));
  }
  const deadline = numberOf(spec['activeDeadlineSeconds']);
  if (deadline !== undefined && (deadline < 1 || deadline > 2 ** 31 - 1)) {
    errors.push(invalidValue(`${field}.activeDeadlineSeconds`, deadline, rangeError(1, 2 ** 31 - 1)));
  }
  for (const name of ['hostname', 'subdomain']) {
    const value = stringOf(spec[name]);
    if (value === '') continue;
    for (const message of dns1123Label(value)) errors.push(invalidValue(`${field}.${name}`, value, message));
  }
  for (const [index, toleration] of objectsOf(spec['tolerations']).entries()) {
    const path = `${field}.tolerations[${index}]`;
    const key = stringOf(toleration['key']);
    if (key !== '') for (const message of labelKey(key)) errors.push(invalidValue(`${path}.key`, key, message));
    else if (stringOf(toleration['operator']) !== 'Exists') {
      errors.push(
        invalidValue(
          `${path}.operator`,
          toleration['operator'] ?? '',
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
  }
  return errors;
}

/** Validates a pod template. */
export function validatePodTemplate(template: JsonObject, field: string): FieldError[] {
  const metadata = isObject(template['metadata']) ? template['metadata'] : {};
  return [
    ...validateLabels(metadata['labels'], `${field}.labels`),
    ...validateAnnotations(metadata['annotations'], `${field}.annotations`),
    ...validatePodSpec(isObject(template['spec']) ? template['spec'] : {}, `${field}.spec`),
  ];
}
