/** Environment variables whose values name code or configuration that programs load. */

/** Variables whose values name files, programs or options that load code. */
const CODE_VARIABLES =
  /^(?:BASH_ENV|ENV|PROMPT_COMMAND|INPUTRC|PYTHON\w+|NODE_\w+|RUBY\w+|PERL5\w+|LD_\w+|GIT_\w+|EDITOR|VISUAL|\w*PAGER|LESS(?:OPEN|CLOSE)|BROWSER|\w+_ASKPASS|KUBECONFIG|COMPOSE_\w+|DOCKER_CONFIG|MAKE\w+|_?JAVA_\w+|JDK_\w+|CLASSPATH|MAVEN_\w+|GRADLE_\w+|LUA_\w+|PHP\w+|PSQLRC|PG(?:SERVICEFILE|SYSCONFDIR)|VIMINIT|EXINIT|VIMRUNTIME|AWKPATH|ANSIBLE_\w+|TF_\w+|R_\w+|JULIA_\w+|PIP_\w+|NPM_CONFIG_\w+|npm_config_\w+|RUST\w+|CARGO_\w+|CC|CXX|LD|AR|OPENSSL_\w+|CURL_HOME|WGETRC|ZDOTDIR|GCONV_PATH|BUN_\w+|DENO_\w+|GEM_\w+|BUNDLE_\w+|GOFLAGS|SSH_\w+|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|TCLLIBPATH|GUILE_\w+)$/;

/** Variables whose values are lists of folders from which programs load code. */
const CODE_FOLDERS =
  /^(?:PYTHONPATH|PYTHONHOME|NODE_PATH|RUBYLIB|PERL5LIB|LD_LIBRARY_PATH|CLASSPATH|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|LUA_C?PATH|ZDOTDIR|GEM_PATH|GEM_HOME|AWKPATH|TCLLIBPATH|PHP_INI_SCAN_DIR|ANSIBLE_\w+_PLUGINS|ANSIBLE_LIBRARY|JULIA_LOAD_PATH|GCONV_PATH|GUILE_LOAD_PATH)$/;

export function namesCode(variable: string): boolean {
  return CODE_VARIABLES.test(variable);
}

export function namesCodeFolders(variable: string): boolean {
  return CODE_FOLDERS.test(variable);
}
