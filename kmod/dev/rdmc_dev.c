// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/spindle-rdmc: the device through which processes send and receive large objects.
 * See bulk/rdmc.h. An open file has one group, once it has created that.
 */
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "bulk/rdmc.h"
#include "rdmc_dev.h"

/**
 * struct rdmc_file - an open file
 */
struct rdmc_file {
	/** @lock: serializes requests that set @group */
	struct mutex lock;	/* group being set */
	/** @group: the group, or NULL; set once */
	struct spindle_rdmc_group *group;
};

static struct spindle_rdmc_group *file_group(const struct rdmc_file *rf)
{
	/* Pairs with the release in create(): the group is complete. */
	return smp_load_acquire(&rf->group);
}

static int rdmc_open(struct inode *inode, struct file *file)
{
	struct rdmc_file *rf = kzalloc(sizeof(*rf), GFP_KERNEL_ACCOUNT);

	if (!rf)
		return -ENOMEM;
	mutex_init(&rf->lock);
	file->private_data = rf;
	return stream_open(inode, file);
}

static int rdmc_release(struct inode *inode, struct file *file)
{
	struct rdmc_file *rf = file->private_data;

	if (rf->group)
		spindle_rdmc_group_release(rf->group);
	kfree(rf);
	return 0;
}

static int check_create(struct spindle_rdmc_create *args)
{
	if (args->flags || !args->group || (args->group & SPINDLE_RDMC_OWN) || args->count < 2 ||
	    args->count > SPINDLE_MAX_MEMBERS || args->algorithm > SPINDLE_RDMC_HYBRID)
		return -EINVAL;
	if (!args->block)
		args->block = SPINDLE_RDMC_BLOCK;
	if (!args->timeout_ms)
		args->timeout_ms = SPINDLE_RDMC_TIMEOUT_MS;
	if (!is_power_of_2(args->block) || args->block < SPINDLE_RDMC_MIN_BLOCK ||
	    args->block > SPINDLE_RDMC_MAX_BLOCK)
		return -EINVAL;
	return 0;
}

static long create(struct rdmc_file *rf, struct spindle_rdmc_create *args)
{
	u32 member[SPINDLE_MAX_MEMBERS];
	struct spindle_net *sn = spindle_net_of(current->nsproxy->net_ns);
	struct spindle_rdmc_group *group;

	if (copy_from_user(member, u64_to_user_ptr(args->members),
			   args->count * sizeof(*member)))
		return -EFAULT;
	mutex_lock(&rf->lock);
	group = rf->group ? ERR_PTR(-EISCONN) :
			    spindle_rdmc_group_create(sn, args, member);
	if (!IS_ERR(group)) {
		/* Pairs with the acquire in file_group(). */
		smp_store_release(&rf->group, group);
	}
	mutex_unlock(&rf->lock);
	return PTR_ERR_OR_ZERO(group);
}

static long ioctl_create(struct rdmc_file *rf, void __user *arg)
{
	struct spindle_rdmc_create args;
	u32 size;
	long err;

	if (get_user(size, (u32 __user *)arg))
		return -EFAULT;
	if (size < sizeof(args) || size > PAGE_SIZE)
		return -EINVAL;
	err = copy_struct_from_user(&args, sizeof(args), arg, size);
	if (err)
		return err == -E2BIG ? -EINVAL : err;
	err = check_create(&args);
	if (!err)
		err = create(rf, &args);
	if (err)
		return err;
	args.size = sizeof(args);
	return copy_to_user(arg, &args, sizeof(args)) ? -EFAULT : 0;
}

static long ioctl_send(struct spindle_rdmc_group *group, void __user *arg)
{
	struct spindle_rdmc_send args;
	int err;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	err = spindle_rdmc_group_send(group, &args);
	if (err)
		return err;
	return copy_to_user(arg, &args, sizeof(args)) ? -EFAULT : 0;
}

static long ioctl_accept(struct spindle_rdmc_group *group, const void __user *arg)
{
	struct spindle_rdmc_accept args;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	return spindle_rdmc_group_accept(group, &args);
}

static long ioctl_cancel(struct spindle_rdmc_group *group, const void __user *arg, bool refuse)
{
	struct spindle_rdmc_cancel args;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	return spindle_rdmc_group_cancel(group, &args, refuse);
}

static long ioctl_stat(struct spindle_rdmc_group *group, void __user *arg)
{
	struct spindle_rdmc_stat args;
	int err;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	err = spindle_rdmc_group_stat(group, &args);
	if (err)
		return err;
	return copy_to_user(arg, &args, sizeof(args)) ? -EFAULT : 0;
}

static long rdmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct rdmc_file *rf = file->private_data;
	struct spindle_rdmc_group *group;
	void __user *ptr = (void __user *)arg;

	if (cmd == SPINDLE_RDMC_IOC_CREATE)
		return ioctl_create(rf, ptr);
	group = file_group(rf);
	if (!group)
		return -ENOTCONN;
	switch (cmd) {
	case SPINDLE_RDMC_IOC_SEND:
		return ioctl_send(group, ptr);
	case SPINDLE_RDMC_IOC_ACCEPT:
		return ioctl_accept(group, ptr);
	case SPINDLE_RDMC_IOC_REFUSE:
		return ioctl_cancel(group, ptr, true);
	case SPINDLE_RDMC_IOC_CANCEL:
		return ioctl_cancel(group, ptr, false);
	case SPINDLE_RDMC_IOC_STAT:
		return ioctl_stat(group, ptr);
	case SPINDLE_RDMC_IOC_CLOSE:
		return spindle_rdmc_group_close(group);
	default:
		return -ENOTTY;
	}
}

static bool has_event(struct spindle_rdmc_group *group)
{
	/* Pairs with the release in run_event(). */
	return smp_load_acquire(&group->tail) != READ_ONCE(group->head);
}

/* Copy whole events while there are some and there is room. */
static ssize_t copy_events(struct spindle_rdmc_group *group, char __user *buf, size_t len)
{
	struct spindle_rdmc_event ev;
	size_t done = 0;

	while (len - done >= sizeof(ev) && spindle_rdmc_group_next(group, &ev)) {
		if (copy_to_user(buf + done, &ev, sizeof(ev)))
			return done ? done : -EFAULT;
		done += sizeof(ev);
	}
	return done;
}

static ssize_t rdmc_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct spindle_rdmc_group *group = file_group(file->private_data);
	ssize_t done;
	int err;

	if (!group)
		return -ENOTCONN;
	if (len < sizeof(struct spindle_rdmc_event))
		return -EINVAL;
	for (;;) {
		if (mutex_lock_interruptible(&group->lock))
			return -ERESTARTSYS;
		done = copy_events(group, buf, len);
		mutex_unlock(&group->lock);
		/* After the last event there is nothing to wait for. */
		if (done || (READ_ONCE(group->ended) && !has_event(group)))
			return done;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(group->wait, has_event(group) ||
					       READ_ONCE(group->ended));
		if (err)
			return err;
	}
}

static __poll_t rdmc_poll(struct file *file, poll_table *wait)
{
	struct spindle_rdmc_group *group = file_group(file->private_data);

	if (!group)
		return EPOLLERR;
	poll_wait(file, &group->wait, wait);
	if (has_event(group))
		return EPOLLIN | EPOLLRDNORM;
	return READ_ONCE(group->ended) ? EPOLLHUP : 0;
}

static const struct file_operations rdmc_fops = {
	.owner = THIS_MODULE,
	.open = rdmc_open,
	.release = rdmc_release,
	.unlocked_ioctl = rdmc_ioctl,
	.read = rdmc_read,
	.poll = rdmc_poll,
};

static struct miscdevice rdmc_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "spindle-rdmc",
	.fops = &rdmc_fops,
	.mode = 0600,
};

/**
 * spindle_rdmc_dev_init() - create /dev/spindle-rdmc
 *
 * Return: 0 or -errno
 */
int spindle_rdmc_dev_init(void)
{
	return misc_register(&rdmc_misc);
}

/**
 * spindle_rdmc_dev_exit() - remove /dev/spindle-rdmc
 *
 * No file is open, because open files hold the module.
 */
void spindle_rdmc_dev_exit(void)
{
	misc_deregister(&rdmc_misc);
}
