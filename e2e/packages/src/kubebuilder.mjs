// What the same steps take by kubebuilder's quick start, as of commit 5c400728 (August 2026) of
// docs/book/src/quick-start.md. It states commands and prerequisites, and no times; `make test` is of the scaffold's Makefile.
export const kubebuilder = {
  source: 'https://book.kubebuilder.io/quick-start',
  prerequisites: 'Go, Docker, kubectl, a cluster',
  commandsToTestAndReconcile: 9,
  commands: [
    'curl -L -o kubebuilder "https://go.kubebuilder.io/dl/latest/$(go env GOOS)/$(go env GOARCH)"',
    'chmod +x kubebuilder && sudo mv kubebuilder /usr/local/bin/',
    'mkdir -p ~/projects/guestbook',
    'kubebuilder init --domain my.domain --repo my.domain/guestbook',
    'kubebuilder create api --group webapp --version v1 --kind Guestbook',
    'make test',
    'make install',
    'make run',
    'kubectl apply -k config/samples/',
  ],
  downloads: [
    'kubebuilder',
    'Go modules',
    'controller-gen',
    'setup-envtest',
    'kube-apiserver, etcd and kubectl',
    'kustomize',
  ],
  secondsToTestAndReconcile: 'not stated',
  linesOfTheSample: 0,
  note: 'cd is counted on neither side. The reconciler that is scaffolded does nothing; ours keeps a ConfigMap and a status.',
};
