// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/spindle: the device through which processes attach.
 *
 * This file only copies arguments. It touches user memory before or after the work, never
 * under a lock. node/attachment.h describes an open file.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/spindle.h>

#include "base/engine.h"
#include "chardev.h"
#include "file.h"
#include "node/attachment.h"
#include "node/fill.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/subgroup.h"

/*
 * In the first version with positions the argument ends here. A program of an older version would
 * take a position for the place in a view.
 */
#define ATTACH_SIZE_MIN offsetofend(struct spindle_attach, resv2)

/* How long a new sender waits until the messages of the former one are sent. */
#define PARTING_MS 5000

static int bind(struct spindle_attachment *att, const char *name, struct spindle_attach *args)
{
	unsigned long end = jiffies + msecs_to_jiffies(PARTING_MS);
	struct spindle_net *sn = spindle_net_of(current->nsproxy->net_ns);
	struct spindle_attach copy = *args;
	int ret;

	for (;;) {
		ret = spindle_attachment_bind(att, sn, name, args);
		if (ret != -EAGAIN)
			return ret;
		if (time_after(jiffies, end))
			return -EBUSY;
		if (msleep_interruptible(2))
			return -EINTR;
		*args = copy;
	}
}

/* Does the reply say more about an error? */
static bool is_told(int err)
{
	return err == -ENOMEM || err == -ESTALE || err == -ERANGE || err == -EXDEV;
}

static long ioctl_attach(struct spindle_attachment *att, void __user *arg)
{
	char name[SPINDLE_NAME_LEN + 1];
	struct spindle_attach args;
	u32 size;
	int err, ret;

	err = spindle_file_args(&args, sizeof(args), ATTACH_SIZE_MIN, arg, &size);
	if (!err)
		err = spindle_file_name(name, args.name, args.subgroup);
	if (err)
		return err;
	ret = bind(att, name[0] ? name : NULL, &args);
	if (ret && !is_told(ret))
		return ret;
	args.size = sizeof(args);
	if (copy_to_user(arg, &args, min_t(size_t, size, sizeof(args))))
		return -EFAULT;
	return ret;
}

static u32 fill_members(const struct spindle_subgroup *sg, struct spindle_member *member)
{
	const struct spindle_view *view = &sg->inst->view;
	u32 r, n = 0;

	for (r = 0; r < view->num_members; r++) {
		if (!(sg->cfg->members & BIT_ULL(r)))
			continue;
		member[n].node = view->member[r].id;
		member[n++].sender_rank = sg->cfg->senders & BIT_ULL(r) ?
					  spindle_mask_rank(sg->cfg->senders, r) :
					  SPINDLE_NO_RANK;
	}
	return n;
}

static long ioctl_members(struct spindle_attachment *att, void __user *arg)
{
	struct spindle_member member[SPINDLE_MAX_MEMBERS];
	struct spindle_members args;
	struct spindle_net *sn;
	u32 room, n = 0;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	if (args.resv)
		return -EINVAL;
	sn = spindle_attachment_lock(att);
	if (!sn)
		return -ENOTCONN;
	if (att->sg)
		n = fill_members(att->sg, member);
	spindle_net_unlock(sn);
	if (!n)
		return -ENOTCONN;
	room = args.count;
	args.count = n;
	if (copy_to_user(arg, &args, sizeof(args)))
		return -EFAULT;
	if (room < n)
		return -ENOSPC;
	if (copy_to_user(u64_to_user_ptr(args.ptr), member, n * sizeof(*member)))
		return -EFAULT;
	return 0;
}

static long ioctl_silence(struct spindle_attachment *att, const void __user *arg)
{
	u64 rounds;

	if (copy_from_user(&rounds, arg, sizeof(rounds)))
		return -EFAULT;
	return spindle_attachment_silence(att, rounds);
}

static long ioctl_report(struct spindle_attachment *att, const void __user *arg)
{
	struct spindle_report report;

	if (copy_from_user(&report, arg, sizeof(report)))
		return -EFAULT;
	return spindle_attachment_report(att, &report);
}

/* Copy an array of a process, charged to its memory cgroup. Return: for kvfree(), or ERR_PTR() */
static void *copy_array(u64 user, size_t bytes)
{
	void *copy = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);

	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (!copy_from_user(copy, u64_to_user_ptr(user), bytes))
		return copy;
	kvfree(copy);
	return ERR_PTR(-EFAULT);
}

/* Copy the parts of a request whose numbers are checked, and have them put into the history. */
static int fill_with(struct spindle_attachment *att, struct spindle_fill *args,
		     struct spindle_seat seat[SPINDLE_MAX_MEMBERS])
{
	void *dlv, *data;
	int err;

	if (copy_from_user(seat, u64_to_user_ptr(args->seats), args->members * sizeof(*seat)))
		return -EFAULT;
	dlv = copy_array(args->dlv, args->count * sizeof(struct spindle_dlv));
	if (IS_ERR(dlv))
		return PTR_ERR(dlv);
	data = copy_array(args->data, args->bytes);
	err = PTR_ERR_OR_ZERO(data);
	if (!err) {
		err = spindle_fill(att, args, seat, dlv, data);
		kvfree(data);
	}
	kvfree(dlv);
	return err;
}

static long ioctl_fill(struct spindle_attachment *att, void __user *arg)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	struct spindle_fill args;
	int err;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	err = spindle_fill_check(&args);
	if (!err)
		err = fill_with(att, &args, seat);
	if (err && err != -ESTALE && err != -ENOSPC)
		return err;
	return put_user(args.lsn, &((struct spindle_fill __user *)arg)->lsn) ? -EFAULT : err;
}

static long spindle_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct spindle_attachment *att = file->private_data;
	void __user *ptr = (void __user *)arg;

	/* The number contains the size of the struct, which may be that of another version. */
	if ((cmd & ~IOCSIZE_MASK) == (SPINDLE_IOC_ATTACH & ~IOCSIZE_MASK))
		return ioctl_attach(att, ptr);
	switch (cmd) {
	case SPINDLE_IOC_KICK:
		return spindle_file_kick(att);
	case SPINDLE_IOC_MEMBERS:
		return ioctl_members(att, ptr);
	case SPINDLE_IOC_SEATS:
		return spindle_file_seats(att, ptr);
	case SPINDLE_IOC_SILENCE:
		return ioctl_silence(att, ptr);
	case SPINDLE_IOC_REPORT:
		return ioctl_report(att, ptr);
	case SPINDLE_IOC_FILL:
		return ioctl_fill(att, ptr);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations spindle_fops = {
	.owner = THIS_MODULE,
	.open = spindle_file_open,
	.release = spindle_file_release,
	.unlocked_ioctl = spindle_ioctl,
	.mmap = spindle_file_mmap,
	.poll = spindle_file_poll,
};

static struct miscdevice spindle_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "spindle",
	.fops = &spindle_fops,
	.mode = 0600,
};

/**
 * spindle_chardev_init() - create /dev/spindle
 *
 * Return: 0 or -errno
 */
int spindle_chardev_init(void)
{
	return misc_register(&spindle_misc);
}

/**
 * spindle_chardev_exit() - remove /dev/spindle
 *
 * No file is open, because open files hold the module.
 */
void spindle_chardev_exit(void)
{
	misc_deregister(&spindle_misc);
}
