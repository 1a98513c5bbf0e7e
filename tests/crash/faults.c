/* A disk that fails, loaded before the C library (LD_PRELOAD) into a server under test.

   It looks at calls on files named data.mdb only. What it does is said by a block of shared memory, a file named by
   DISK_CONTROL, which the test changes while the server runs; see faults.py for the fields. If DISK_JOURNAL names a
   file, every write and every sync is recorded there, so that the test can rebuild what a power cut might have left. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NOTHING, FAIL, SHORT, DIE_BEFORE, DIE_AFTER };
enum { WRITES = 1, SYNCS = 2, ROOTS = 4 }; /* a root is written through a descriptor that syncs by itself */

struct control {
    int32_t action, calls, error, skip, times, hits;
};

static struct control *control;
static int journal = -1;

__attribute__((constructor)) static void set_up(void) {
    const char *path = getenv("DISK_CONTROL");
    if (path) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd >= 0) {
            void *block = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (block != MAP_FAILED) control = block;
            close(fd);
        }
    }
    path = getenv("DISK_JOURNAL");
    if (path) journal = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int is_database(int fd) {
    char link[64], path[4096];
    char digits[16];
    int at = 0, n = fd;
    if (fd < 0 || (!control && journal < 0)) return 0;
    do digits[at++] = '0' + n % 10; while (n /= 10);
    strcpy(link, "/proc/self/fd/");
    for (char *to = link + strlen(link); at >= 0; ) { if (at == 0) { *to = 0; break; } *to++ = digits[--at]; }
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 9) return 0;
    path[length] = 0;
    return strcmp(path + length - 9, "/data.mdb") == 0;
}

static int syncs_itself(int fd) { return (fcntl(fd, F_GETFL) & O_DSYNC) != 0; }

/* What is to happen to this call. Counts down what is to be let through, and then what is to be hit. */
static int action_for(int call) {
    if (!control || control->action == NOTHING || !(control->calls & call)) return NOTHING;
    if (__sync_fetch_and_sub(&control->skip, 1) > 0) return NOTHING;
    if (__sync_fetch_and_sub(&control->times, 1) <= 0) return NOTHING;
    __sync_fetch_and_add(&control->hits, 1);
    return control->action;
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* kind: w a write, r a write that syncs itself, d the end of one, s the end of a sync */
static void record(char kind, int64_t offset, const struct iovec *parts, int count) {
    if (journal < 0) return;
    int64_t length = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    size_t size = 17 + length;
    char *all = malloc(size), *to = all + 17;
    all[0] = kind;
    memcpy(all + 1, &offset, 8);
    memcpy(all + 9, &length, 8);
    for (int i = 0; i < count; i++) { memcpy(to, parts[i].iov_base, parts[i].iov_len); to += parts[i].iov_len; }
    if (syscall(SYS_write, journal, all, size) != (ssize_t)size) die();
    free(all);
}

static ssize_t faulty_write(int fd, const struct iovec *parts, int count, int64_t offset, int moves) {
    int root = syncs_itself(fd);
    int action = action_for(root ? ROOTS : WRITES);
    if (action == FAIL) { errno = control->error; return -1; }
    if (action == DIE_BEFORE) die();
    struct iovec half[1];
    if (action == SHORT) {
        half[0].iov_base = parts[0].iov_base;
        half[0].iov_len = parts[0].iov_len / 2;
        parts = half;
        count = 1;
    }
    record(root ? 'r' : 'w', offset, parts, count);
    ssize_t done = moves ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
    if (root) record('d', 0, NULL, 0);
    if (action == DIE_AFTER) die();
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    if (!is_database(fd)) return syscall(SYS_pwrite64, fd, data, size, offset);
    struct iovec part = {(void *)data, size};
    return faulty_write(fd, &part, 1, offset, 0);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) { return pwrite(fd, data, size, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!is_database(fd)) return syscall(SYS_writev, fd, parts, count);
    return faulty_write(fd, parts, count, syscall(SYS_lseek, fd, 0, SEEK_CUR), 1);
}

ssize_t write(int fd, const void *data, size_t size) {
    if (!is_database(fd)) return syscall(SYS_write, fd, data, size);
    struct iovec part = {(void *)data, size};
    return faulty_write(fd, &part, 1, syscall(SYS_lseek, fd, 0, SEEK_CUR), 1);
}

static int faulty_sync(int fd, long call) {
    int action = action_for(SYNCS);
    if (action == FAIL) { errno = control->error; return -1; }
    if (action == DIE_BEFORE) die();
    int done = syscall(call, fd);
    if (done == 0) record('s', 0, NULL, 0);
    if (action == DIE_AFTER) die();
    return done;
}

int fdatasync(int fd) { return is_database(fd) ? faulty_sync(fd, SYS_fdatasync) : (int)syscall(SYS_fdatasync, fd); }

int fsync(int fd) { return is_database(fd) ? faulty_sync(fd, SYS_fsync) : (int)syscall(SYS_fsync, fd); }
