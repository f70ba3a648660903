// Command cert-manager runs cert-manager's controllers, its CA injector or its webhook. Upstream's own commands are
// modules that are not published; the packages that they put together are, and come here unchanged. Packages below
// internal/ are open to this module because of its path, as they are to upstream's commands.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cmwebhook "github.com/cert-manager/cert-manager/internal/webhook"
	"github.com/cert-manager/cert-manager/pkg/api"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/util"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"

	_ "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/ingresses"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/metrics"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// flags are a set of their own: controller-runtime puts -kubeconfig into the common one.
var flags = flag.NewFlagSet("cert-manager", flag.ExitOnError)

var (
	mode       = flags.String("mode", "controller", "controller, cainjector or webhook")
	kubeconfig = flags.String("kubeconfig", os.Getenv("KUBECONFIG"), "path of the kubeconfig")
	port       = flags.Int("port", 0, "of the webhook")
	certFile   = flags.String("tls-cert-file", "", "of the webhook")
	keyFile    = flags.String("tls-private-key-file", "", "of the webhook")
)

func main() {
	// The set exits by itself.
	_ = flags.Parse(os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(klog.Background())
	run := map[string]func(context.Context) error{"controller": runControllers, "cainjector": runInjector, "webhook": runWebhook}[*mode]
	if run == nil {
		fmt.Fprintf(os.Stderr, "cert-manager: -mode %q: expected controller, cainjector or webhook\n", *mode)
		os.Exit(2)
	}
	if err := run(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

func runControllers(ctx context.Context) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:         *kubeconfig,
		KubernetesAPIQPS:   100,
		KubernetesAPIBurst: 200,
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: "cert-manager"},
		IngressShimOptions: controller.IngressShimOptions{
			DefaultIssuerKind:  "Issuer",
			DefaultIssuerGroup: "cert-manager.io",
		},
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
		SchedulerOptions: controller.SchedulerOptions{MaxConcurrentChallenges: 60},
	})
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	done := make(chan error)
	count := 0
	for name, construct := range controller.Known() {
		instance, err := construct(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		count++
		go func() { done <- instance.Run(5, ctx) }()
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	for ; count > 0; count-- {
		if err := <-done; err != nil {
			return err
		}
	}
	return nil
}

func runInjector(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	// The name that it applies by comes from the user agent.
	config = util.RestConfigWithUserAgent(config, "cainjector")
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, api.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, admissionv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:           scheme,
		LeaderElection:   true,
		LeaderElectionID: "cert-manager-cainjector-leader-election",
		// As the command of upstream has it.
		LeaderElectionNamespace: "kube-system",
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Client:                  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{new(corev1.Secret)}}},
	})
	if err != nil {
		return err
	}
	err = cainjector.RegisterAllInjectors(ctx, mgr, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName:                     true,
			cainjector.CustomResourceDefinitionName:       true,
		},
	})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func runWebhook(ctx context.Context) error {
	config, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	config.KubeConfig = *kubeconfig
	config.SecurePort = int32(*port)
	config.HealthzPort = 0
	config.MetricsListenAddress = "0"
	config.TLSConfig.Filesystem.CertFile = *certFile
	config.TLSConfig.Filesystem.KeyFile = *keyFile
	server, err := cmwebhook.NewCertManagerWebhookServer(klog.Background(), *config)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
