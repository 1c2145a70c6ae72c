"""Containers: images, ports, environment, resources, probes, security.

Pods name them; ephemeral containers have the same fields and one more.
`schema/notation.py` explains the notation.
"""

TEXT = """
[core]
Capability, ContainerRestartPolicy, ContainerRestartRuleAction,
ContainerRestartRuleOnExitCodesOperator, RecursiveReadOnlyMode, ResourceName,
ResourceResizeRestartPolicy = string
AppArmorProfileType = Localhost | RuntimeDefault | Unconfined
MountPropagationMode = Bidirectional | HostToContainer | None
ProcMountType = Default | Unmasked
Protocol = SCTP | TCP | UDP
PullPolicy = Always | IfNotPresent | Never
ResourceList = map[ResourceName]Quantity
SeccompProfileType = Localhost | RuntimeDefault | Unconfined
Signal = SIGABRT | SIGALRM | SIGBUS | SIGCHLD | SIGCLD | SIGCONT | SIGFPE | SIGHUP | SIGILL |
  SIGINT | SIGIO | SIGIOT | SIGKILL | SIGPIPE | SIGPOLL | SIGPROF | SIGPWR | SIGQUIT | SIGRTMAX
  | SIGRTMAX-1 | SIGRTMAX-10 | SIGRTMAX-11 | SIGRTMAX-12 | SIGRTMAX-13 | SIGRTMAX-14 |
  SIGRTMAX-2 | SIGRTMAX-3 | SIGRTMAX-4 | SIGRTMAX-5 | SIGRTMAX-6 | SIGRTMAX-7 | SIGRTMAX-8 |
  SIGRTMAX-9 | SIGRTMIN | SIGRTMIN+1 | SIGRTMIN+10 | SIGRTMIN+11 | SIGRTMIN+12 | SIGRTMIN+13 |
  SIGRTMIN+14 | SIGRTMIN+15 | SIGRTMIN+2 | SIGRTMIN+3 | SIGRTMIN+4 | SIGRTMIN+5 | SIGRTMIN+6 |
  SIGRTMIN+7 | SIGRTMIN+8 | SIGRTMIN+9 | SIGSEGV | SIGSTKFLT | SIGSTOP | SIGSYS | SIGTERM |
  SIGTRAP | SIGTSTP | SIGTTIN | SIGTTOU | SIGURG | SIGUSR1 | SIGUSR2 | SIGVTALRM | SIGWINCH |
  SIGXCPU | SIGXFSZ
TerminationMessagePolicy = FallbackToLogsOnError | File
URIScheme = HTTP | HTTPS
Container
    name!, image string; command, args []string; workingDir string;
    ports []ContainerPort{containerPort protocol} merge; envFrom []EnvFromSource;
    env []EnvVar{name} merge; resources ResourceRequirements;
    resizePolicy []ContainerResizePolicy; restartPolicy *ContainerRestartPolicy;
    restartPolicyRules []ContainerRestartRule; volumeMounts []VolumeMount{mountPath} merge;
    volumeDevices []VolumeDevice{devicePath} merge;
    livenessProbe, readinessProbe, startupProbe *Probe; lifecycle *Lifecycle;
    terminationMessagePath string; terminationMessagePolicy TerminationMessagePolicy;
    imagePullPolicy PullPolicy; securityContext *SecurityContext; stdin, stdinOnce, tty bool
ContainerPort
    name string; hostPort, containerPort! int32; protocol Protocol =TCP; hostIP string
EnvFromSource
    prefix string; configMapRef *ConfigMapEnvSource; secretRef *SecretEnvSource
ConfigMapEnvSource
    name string =; optional *bool
SecretEnvSource
    name string =; optional *bool
EnvVar
    name!, value string; valueFrom *EnvVarSource
EnvVarSource
    fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector;
    configMapKeyRef *ConfigMapKeySelector; secretKeyRef *SecretKeySelector;
    fileKeyRef *FileKeySelector
ObjectFieldSelector atomic
    apiVersion, fieldPath! string
ResourceFieldSelector atomic
    containerName, resource! string; divisor Quantity
ConfigMapKeySelector atomic
    name string =; key! string; optional *bool
SecretKeySelector atomic
    name string =; key! string; optional *bool
FileKeySelector atomic
    volumeName!, path!, key! string; optional *bool =false
ResourceRequirements
    limits, requests ResourceList; claims []ResourceClaim{name}
ResourceClaim
    name!, request string
ContainerResizePolicy
    resourceName! ResourceName; restartPolicy! ResourceResizeRestartPolicy
ContainerRestartRule
    action!? ContainerRestartRuleAction; exitCodes *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes
    operator!? ContainerRestartRuleOnExitCodesOperator; values []int32{}
VolumeMount
    name! string; readOnly bool; recursiveReadOnly *RecursiveReadOnlyMode;
    mountPath!, subPath string; mountPropagation *MountPropagationMode; subPathExpr string
VolumeDevice
    name!, devicePath! string
Probe
    exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; grpc *GRPCAction;
    initialDelaySeconds, timeoutSeconds, periodSeconds, successThreshold int32;
    failureThreshold int32; terminationGracePeriodSeconds *int64
ExecAction
    command []string
HTTPGetAction
    path string; port! IntOrString; host string; scheme URIScheme; httpHeaders []HTTPHeader
HTTPHeader
    name!, value! string
TCPSocketAction
    port! IntOrString; host string
GRPCAction
    port! int32; service+ *string =
Lifecycle
    postStart, preStop *LifecycleHandler; stopSignal *Signal
LifecycleHandler
    exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; sleep *SleepAction
SleepAction
    seconds! int64
SecurityContext
    capabilities *Capabilities; privileged *bool; seLinuxOptions *SELinuxOptions;
    windowsOptions *WindowsSecurityContextOptions; runAsUser, runAsGroup *int64;
    runAsNonRoot, readOnlyRootFilesystem, allowPrivilegeEscalation *bool;
    procMount *ProcMountType; seccompProfile *SeccompProfile; appArmorProfile *AppArmorProfile
Capabilities
    add, drop []Capability
SELinuxOptions
    user, role, type, level string
WindowsSecurityContextOptions
    gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName *string; hostProcess *bool
SeccompProfile
    type! SeccompProfileType; localhostProfile *string
AppArmorProfile
    type! AppArmorProfileType; localhostProfile *string
EphemeralContainer
    ...Container; targetContainerName string
"""
